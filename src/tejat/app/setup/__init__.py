"""The set-up of a user: checks, reports, notes at start."""
