"""Benchmarks of the promised figures, each against a baseline in the same run."""
