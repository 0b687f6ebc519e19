"""Plan mode: where plans are, and how they are approved."""
