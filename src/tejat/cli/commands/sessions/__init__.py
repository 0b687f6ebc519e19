"""Commands on sessions: stored ones, and those of other processes."""
