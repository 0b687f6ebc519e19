"""Output, results and trial runs of shell commands."""
