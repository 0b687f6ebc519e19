"""Glob."""
