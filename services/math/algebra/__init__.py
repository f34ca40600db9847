"""Exact and numeric arithmetic on values, sets of real numbers, and sympy behind a fence."""
