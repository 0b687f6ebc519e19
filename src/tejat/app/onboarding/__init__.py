"""Steps before the first session of a user."""
