"""Web addresses in text."""

import re
from collections.abc import Iterator

_URL = r"https?://[^\s<>\"'`]+"
_PUNCTUATION = ".,;:!?)]}*_"


def find_urls(text: str) -> Iterator[tuple[int, str]]:
    """Yield the addresses in a text with their positions, without the punctuation of the sentence that follows them."""
    for found in re.finditer(_URL, text):
        url = found[0].rstrip(_PUNCTUATION)
        if url.partition("://")[2]:
            yield found.start(), url
