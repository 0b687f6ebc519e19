"""Rate limits that all processes of a machine share, one per model service."""
