"""Questions to the user of a client: permission requests and forms."""
