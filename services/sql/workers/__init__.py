"""Checks in processes that can be killed."""
