"""Overlay copies of the workspace in which a command is tried before its changes are applied."""
