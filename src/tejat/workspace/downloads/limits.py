"""Limits of fetched packages."""

MAX_PACKED_BYTES = 200 * 1024 * 1024
MAX_BYTES = 1024 * 1024 * 1024
MAX_ENTRIES = 50_000
