"""Tool calls as the user sees them: titles, reports, excerpts of their output."""
