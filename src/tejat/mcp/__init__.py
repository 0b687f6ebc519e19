"""Client of the Model Context Protocol, and the wire format that the MCP server in `ui` uses, too."""
