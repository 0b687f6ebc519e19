"""Terminals of the editor that show the output of commands."""
