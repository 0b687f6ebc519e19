"""Reports of finished batches: figures, tables, HTML, comparisons."""
