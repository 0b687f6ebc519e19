"""Text: encodings, diffs, byte-exact edits, terminal output."""
