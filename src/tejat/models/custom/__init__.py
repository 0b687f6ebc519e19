"""Models of the embedding program."""
