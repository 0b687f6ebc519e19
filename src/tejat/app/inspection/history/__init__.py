"""Past sessions: their figures, timelines, totals over time, and a search over them."""
