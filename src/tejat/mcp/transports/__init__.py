"""Transports: stdio, Streamable HTTP and SSE."""
