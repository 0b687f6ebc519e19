"""Undo of file changes in a session."""
