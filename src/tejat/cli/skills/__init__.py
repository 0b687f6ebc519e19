"""`tejat skills`."""
