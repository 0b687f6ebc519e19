"""`tejat demo`."""
