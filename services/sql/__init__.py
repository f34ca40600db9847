"""The SQL verifier: a query is right when it returns what the gold one returns, on every database."""
