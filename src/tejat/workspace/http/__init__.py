"""HTTP/1.1 client and server: connections, proxies, TLS, server-sent events."""
