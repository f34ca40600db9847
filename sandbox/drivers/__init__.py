"""The ways to run untrusted programs apart, a module each."""
