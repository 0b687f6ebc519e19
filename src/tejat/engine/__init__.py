"""The agent engine: the loop, calls, sessions, prompts and hooks."""
