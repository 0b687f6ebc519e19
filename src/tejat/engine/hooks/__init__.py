"""Hooks: commands of the user that run at certain events and may influence them."""
