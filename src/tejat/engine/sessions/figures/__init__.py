"""What the runs of a session used and how long their parts took."""
