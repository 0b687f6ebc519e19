"""What the agent and the supervisor say to each other."""

LENGTH_BYTES = 4
"""Size of the length prefix of a request. Orders of one byte each follow the request."""
STOP, LIST_SURVIVORS = b"s", b"w"
"""Orders: terminate the command; list its living processes."""
STARTED, FAILED, ENDED, SURVIVORS, TERMINATED = "started", "failed", "ended", "left", "gone"
"""Replies: the first word of a line of numbers."""
PROGRAM, DIRECTORY = 0, 1
"""What caused a failed start."""
SESSION, DETACHED = "session", "detached"
"""Modes of the program, its first argument."""
