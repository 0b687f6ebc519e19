"""Settings files: schema, loading, merging, editing."""
