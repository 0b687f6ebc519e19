"""Copies of the files for a command to be tried in: what it changes there is seen before it counts."""
