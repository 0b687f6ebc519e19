"""Headless runs: one prompt in, one result on standard output."""
