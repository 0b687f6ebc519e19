"""Search over tools that are too many to declare."""
