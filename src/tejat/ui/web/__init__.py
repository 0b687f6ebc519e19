"""The web page: a local HTTP server, and the sessions as a browser shows them."""
