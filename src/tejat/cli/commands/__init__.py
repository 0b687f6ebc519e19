"""Subcommands of `tejat`."""
