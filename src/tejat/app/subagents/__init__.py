"""Sub-agents of a session."""
