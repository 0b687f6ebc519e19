"""Benchmark suites, one per area."""
