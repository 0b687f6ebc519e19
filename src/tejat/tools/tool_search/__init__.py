"""Tool search."""
