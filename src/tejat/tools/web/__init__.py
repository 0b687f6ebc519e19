"""Web access shared by the web tools."""
