"""How often `replace` does what was meant when it is not told exactly: cases made from real files and real commits."""
