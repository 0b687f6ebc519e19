"""The Agent Client Protocol: sessions for editors, over standard input and output."""
