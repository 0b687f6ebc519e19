"""The tool contract: declarations, parameters, results, call events."""
