"""Text and code prepared for display: sanitized, and split into tokens of its language."""
