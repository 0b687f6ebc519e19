"""Server features: tools, prompts and resources."""
