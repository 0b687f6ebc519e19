"""Scripted."""
