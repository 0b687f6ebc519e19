"""The driver of a batch: which tasks run when, within which limits, and what is recorded."""
