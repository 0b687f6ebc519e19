"""What a service says about a failure, made fit to be shown and kept: short, on one line, without secrets."""

import re
from collections.abc import Iterable

from tejat.core.sanitize import sanitize_summary

MASK = "***"

_MAX_CHARACTERS = 600
_MAX_PAGE_CHARACTERS = 100_000
_MIN_SECRET_LENGTH = 6
_SECRET_PATTERN = (
    r"AIza[\w-]{20,}"
    r"|ya29\.[\w.-]{10,}"
    r"|\bsk-[\w-]{12,}"
    r"|(?<=[Bb]earer )[\w.~+/=-]{8,}"
    r"|(?<=[?&]key=)[^&\s\"']+"
)


def safe_text(text: str, secrets: Iterable[str] = (), *, max_length: int = _MAX_CHARACTERS) -> str:
    """The text with the secrets, and all that looks like a key, masked; control characters shown; cut to a length."""
    # Masked before it is cut: half a secret would no longer be recognised.
    for secret in secrets:
        if len(secret) >= _MIN_SECRET_LENGTH:
            text = text.replace(secret, MASK)
    text = sanitize_summary(re.sub(_SECRET_PATTERN, MASK, text))
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"


def strip_markup(text: str) -> str:
    """An error page of something on the way, without its tags."""
    return re.sub(r"<[^<>]{0,500}>", " ", text[:_MAX_PAGE_CHARACTERS]) if "<" in text else text
