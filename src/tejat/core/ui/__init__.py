"""Contracts between commands and front ends."""
