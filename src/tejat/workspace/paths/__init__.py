"""Finding paths: glob patterns, ignore rules, git metadata, directory walks, fuzzy matching."""
