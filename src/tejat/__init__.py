"""Tejat: the tool core of an open coding agent."""

__version__ = "0.1.0"
