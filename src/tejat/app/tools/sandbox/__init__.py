"""The sandbox of a run: options, paths, checks and the service that applies it."""
