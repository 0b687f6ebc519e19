"""A small benchmark of our own: 20 coding tasks with checks, run by `tejat batch`."""
