"""Values and contracts, without input or output."""
