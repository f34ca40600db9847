"""One door for every verifier."""
