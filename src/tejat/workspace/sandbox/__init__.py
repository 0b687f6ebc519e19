"""What a command may touch, and the ways to make the system keep it to that."""
