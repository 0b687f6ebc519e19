"""Tools found by the discovery command of the settings."""
