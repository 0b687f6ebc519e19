"""Glob patterns: brace expansion, extended globs, and matching in bounded time."""
