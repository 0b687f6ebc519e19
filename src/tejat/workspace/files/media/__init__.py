"""Media files: types by content, pictures and PDF documents."""
