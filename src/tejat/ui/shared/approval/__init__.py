"""Approval requests as the user sees them, independent of how they are drawn."""
