"""Merge of a change into text that differs from the request."""
