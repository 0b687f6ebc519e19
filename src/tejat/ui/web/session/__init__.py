"""One session as the page shows it."""
