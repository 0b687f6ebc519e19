"""Search for the place of an edit: normalization, line costs, alignment, acceptance."""
