"""Events of a session as updates for the client: messages, tool calls, plans."""
