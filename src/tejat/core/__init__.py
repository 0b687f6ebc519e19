"""Values and contracts: no input, no output."""
