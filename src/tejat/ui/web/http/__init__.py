"""HTTP for the web page: who may use it, its files, and streams of events."""
