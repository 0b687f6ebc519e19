"""Edits with inexact text: find the place, merge the change, explain refusals. Pure functions."""
