"""Sessions for clients of the Agent Client Protocol."""
