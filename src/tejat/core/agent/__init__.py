"""Contracts around an agent: options, events, questions, hooks."""
