"""Configuration files: safe reading, private directories, locks."""
