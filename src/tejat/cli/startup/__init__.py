"""What makes runs of the program start faster."""
