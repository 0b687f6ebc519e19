"""Access to files: workspace roots, safe opening, atomic writes, and Tejat's own private files."""
