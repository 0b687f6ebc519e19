"""Messages between users, models and tools."""
