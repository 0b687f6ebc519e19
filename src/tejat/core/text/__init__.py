"""Helpers for text: command lines, mentions, edit distance, secrets."""
