"""What a service says about a failure, made fit to be shown and kept: short, on one line, without secrets."""

import re
from collections.abc import Iterable

from tejat.core.visible import visible

MASK = "***"

_MOST_CHARACTERS = 600
_MOST_OF_A_PAGE = 100_000
_SHORTEST_SECRET = 6
_LOOKS_SECRET = (
    r"AIza[\w-]{20,}"
    r"|ya29\.[\w.-]{10,}"
    r"|\bsk-[\w-]{12,}"
    r"|(?<=[Bb]earer )[\w.~+/=-]{8,}"
    r"|(?<=[?&]key=)[^&\s\"']+"
)


def safe_text(text: str, secrets: Iterable[str] = (), *, most: int = _MOST_CHARACTERS) -> str:
    """The text with the secrets, and all that looks like a key, masked; control characters shown; cut to a length."""
    # Masked before it is cut: half a secret would no longer be recognised.
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, MASK)
    text = visible(" ".join(re.sub(_LOOKS_SECRET, MASK, text).split()))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def without_markup(text: str) -> str:
    """An error page of something on the way, without its tags."""
    return re.sub(r"<[^<>]{0,500}>", " ", text[:_MOST_OF_A_PAGE]) if "<" in text else text
