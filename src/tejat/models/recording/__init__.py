"""Recording and replay of the model side of a run."""
