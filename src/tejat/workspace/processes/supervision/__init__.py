"""Parts of the supervisor program: what it says, receives and limits."""
