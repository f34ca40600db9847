"""What runs beside or inside a sandbox: the standard library alone, for it is copied into images."""
