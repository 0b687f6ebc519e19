"""Short texts: durations, figures of a run, one-line summaries."""
