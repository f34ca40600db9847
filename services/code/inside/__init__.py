"""What runs in sandboxes: files that are sent there, and import the standard library alone."""
