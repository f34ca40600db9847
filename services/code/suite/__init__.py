"""Reads Python test code: which calls of the solution it makes, and what it demands of the values."""
