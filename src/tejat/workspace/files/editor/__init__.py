"""Files that an editor has open: unsaved text, and writes through the editor."""
