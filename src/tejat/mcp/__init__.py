"""The Model Context Protocol: a client for other people's servers, and the wire that our own server speaks too."""
