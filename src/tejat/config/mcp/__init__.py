"""MCP servers in the settings."""
