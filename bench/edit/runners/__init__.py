"""Edit tools that run the cases: Tejat and other agents."""
