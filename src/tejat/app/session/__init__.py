"""Sessions: their manager and the services that front ends and commands use."""
