"""Words, signs and columns of the displays of a batch."""
