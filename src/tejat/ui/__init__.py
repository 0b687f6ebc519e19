"""User interfaces: each subscribes to the events of a session and shows them in its own way."""
