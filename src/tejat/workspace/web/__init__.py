"""Pages of the web, fetched without ever reaching a place that nobody agreed to."""
