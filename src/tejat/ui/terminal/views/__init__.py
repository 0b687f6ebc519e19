"""Views of a session: transcript, activity, reports, diffs and the status line."""
