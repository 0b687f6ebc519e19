"""Finding the text that an edit means. Pure functions."""
