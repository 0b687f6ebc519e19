"""Blocking work beside the event loop."""
