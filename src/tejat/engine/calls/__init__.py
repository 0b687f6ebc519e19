"""Tool calls: scheduling, permission, undo and responses."""
