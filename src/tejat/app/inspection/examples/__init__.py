"""Examples that skills and agents carry: scripted runs with the expected decisions."""
