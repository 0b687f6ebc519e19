"""Notes in a text file."""
