"""The agent loop: turns, the conversation, its limits and its compression."""
