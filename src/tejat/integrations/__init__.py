"""Adapters for benchmark harnesses and agent frameworks. Each imports its package, which Tejat does not depend on."""
