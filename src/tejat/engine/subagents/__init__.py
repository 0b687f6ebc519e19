"""Runs of sub-agents: their conversation, rights, budget and end."""
