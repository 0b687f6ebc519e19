"""Messages for the model about edits: refusals, corrections, results."""
