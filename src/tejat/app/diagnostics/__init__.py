"""Diagnostics of runs: the log of unexpected exceptions, and telemetry."""
