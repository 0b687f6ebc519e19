"""The slash commands of a session."""
