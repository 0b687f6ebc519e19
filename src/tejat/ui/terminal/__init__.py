"""Terminal user interface: an editor at the bottom, finished blocks in the scrollback above."""
