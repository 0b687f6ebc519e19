"""Evaluation of rules against calls and shell commands."""
