"""Lines that stand for omitted text. Written into a file, they delete what they stand for."""
