"""Tables and their rows."""

import csv

_CACHE = {}


def open_table(path):
    """Open a table. It is read by `fetch_rows` or `prefetch_rows`."""
    return {"path": path}


def prefetch_rows(table):
    """Read all rows of a table now, so that `fetch_rows` is quick later."""
    _CACHE[table["path"]] = fetch_rows(table)


def fetch_rows(table, limit=None):
    """Return the rows of a table, at most `limit`."""
    rows = _CACHE.get(table["path"])
    if rows is None:
        with open(table["path"], newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
    return rows if limit is None else rows[:limit]
