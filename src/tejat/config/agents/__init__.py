"""Sub-agents: the files that define them, the built-in ones, and which one a name means."""
