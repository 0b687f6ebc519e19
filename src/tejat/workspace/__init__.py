"""Files, processes, network: knows nothing of tools."""
