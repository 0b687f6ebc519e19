"""Progress of a batch: a live table, plain lines, JSON."""
