"""Headless."""
