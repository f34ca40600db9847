"""Check whether a completion has the shape that was asked for."""
