"""Rules: parsing from TOML, settings and flags, formatting, patterns and matching."""
