"""Folder trust: decisions, their store, and the files they depend on."""
