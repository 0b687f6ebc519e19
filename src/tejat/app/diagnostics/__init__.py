"""What is written down about runs: the log of unexpected exceptions, and telemetry."""
