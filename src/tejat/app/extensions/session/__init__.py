"""Extensions in a session: what they add to it, and what the user is told."""
