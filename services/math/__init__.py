"""Check whether the final answer of a completion is the gold answer."""
