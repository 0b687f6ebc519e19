"""Diffs as values: hunks, numbered rows with changed words, and rows that fit a height."""
