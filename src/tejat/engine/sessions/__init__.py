"""Sessions: the session service, its journal and store."""
