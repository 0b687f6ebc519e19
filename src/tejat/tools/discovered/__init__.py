"""Discovered."""
