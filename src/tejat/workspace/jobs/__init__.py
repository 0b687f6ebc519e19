"""Background jobs: records, logs, stopping."""
