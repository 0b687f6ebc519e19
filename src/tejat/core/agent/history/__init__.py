"""Values about past sessions: figures, timelines, totals of days and search results."""
