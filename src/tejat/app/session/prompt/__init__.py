"""Prompts of a session: instructions, context files, system prompt and expansion."""
