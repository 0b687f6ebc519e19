"""External programs that user interfaces start: editor, pager, clipboard."""
