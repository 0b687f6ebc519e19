"""Repairs of request texts: listing marks, escapes, line prefixes, line breaks."""
