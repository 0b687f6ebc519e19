"""The tools of a session and the services they use."""
