"""Inline drawing on the terminal: input, output, layout and the terminal device."""
