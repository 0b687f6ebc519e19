"""Web pages and search, with protection against requests to private networks."""
