"""Themes by name: those of Gemini CLI, and those of the user's settings."""
