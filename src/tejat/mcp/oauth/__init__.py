"""OAuth for remote MCP servers."""
