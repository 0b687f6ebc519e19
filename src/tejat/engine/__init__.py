"""The path of a call from request to response."""
