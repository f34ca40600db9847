"""Databases that tell a query from its near misses: generated rows, and mutants to choose them by."""
