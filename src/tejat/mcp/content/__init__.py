"""Content of tool results, prompts and resources."""
