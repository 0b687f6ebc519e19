"""Tools written in Python: discovery and loading."""
