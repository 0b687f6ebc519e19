"""Context files such as GEMINI.md: discovery, imports, reading."""
