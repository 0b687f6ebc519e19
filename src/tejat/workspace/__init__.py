"""Files, text, processes, sandbox and network. Independent of tools and models."""
