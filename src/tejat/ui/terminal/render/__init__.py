"""Rendering for a terminal: themes, cells, wrapping, tables, highlighting and Markdown."""
