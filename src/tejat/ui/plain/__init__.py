"""Plain-text user interface for screen readers, braille displays and simple terminals."""
