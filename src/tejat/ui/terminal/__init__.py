"""The terminal: an editor at the bottom, finished blocks above it in the scrollback."""
