"""Streaming Markdown for the terminal."""
