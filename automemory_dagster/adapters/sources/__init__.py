"""Where threads come from."""
