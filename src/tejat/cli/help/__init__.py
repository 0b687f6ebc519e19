"""Help texts: pages of `--help`, their layout on a terminal, and the man page."""
