"""`tejat extensions`: one module per command."""
