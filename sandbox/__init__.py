"""Where untrusted programs run. Nothing is here yet."""
