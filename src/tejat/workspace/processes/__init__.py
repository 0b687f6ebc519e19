"""Child processes: spawning, supervision, termination of whole trees, and bounded output."""
