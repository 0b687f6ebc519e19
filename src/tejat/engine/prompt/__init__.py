"""Prompts: expansion of what the user types, and the system prompt."""
