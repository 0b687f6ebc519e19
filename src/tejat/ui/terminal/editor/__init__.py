"""The prompt editor: text, completion, history and queue."""
