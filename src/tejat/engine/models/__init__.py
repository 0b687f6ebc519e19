"""Which models a conversation asks: fallback chains, side requests, and the router of `auto`."""
