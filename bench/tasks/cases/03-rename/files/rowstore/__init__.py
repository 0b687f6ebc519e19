"""Rows of tables."""

from rowstore.reader import fetch_rows, open_table, prefetch_rows

__all__ = ["fetch_rows", "open_table", "prefetch_rows"]
