"""Front ends: each reads the events of a session and shows them in its own way."""
