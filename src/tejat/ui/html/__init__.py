"""Sessions as HTML: transcripts, Markdown, diffs, reports and questions, for the web page and for exported files.

Text of models, tools and files is sanitized and escaped. The markup has no scripts, event handlers or inline styles.
"""
