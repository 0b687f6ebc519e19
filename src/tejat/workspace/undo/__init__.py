"""Undo: snapshots of files before and after a call, stored outside the project, compared and restored."""
