"""Programs, servers and other agents that the benchmarks use."""
