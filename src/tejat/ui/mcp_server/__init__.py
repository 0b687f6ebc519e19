"""MCP server that offers the tools to other agents."""
