"""Code blocks in Markdown."""


def fence_code(text: str, language: str = "") -> str:
    """A code block that the text cannot end: its fence is longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
