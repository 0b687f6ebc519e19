"""Hooks: commands of the settings that run when something happens, and what they may do about it."""
