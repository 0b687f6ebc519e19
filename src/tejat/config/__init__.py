"""Configuration: paths, settings, trust, context files, credentials, policy files."""
