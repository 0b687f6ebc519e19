"""Error texts of services, made safe to show and store."""

import re
from collections.abc import Iterable

from tejat.core.sanitize import sanitize_summary
from tejat.core.text.secret_mask import anonymous_mask, mask_keys

_MAX_CHARACTERS = 600
_MAX_PAGE_CHARACTERS = 100_000
_MIN_SECRET_LENGTH = 6


def safe_text(text: str, secrets: Iterable[str] = (), *, max_length: int = _MAX_CHARACTERS) -> str:
    """Mask the secrets and everything that looks like a key, escape control characters, and truncate to one line."""
    # Masked before truncating: half a secret would not be recognised.
    text = sanitize_summary(mask_keys(anonymous_mask(secrets, min_length=_MIN_SECRET_LENGTH).mask_text(text)))
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"


def strip_markup(text: str) -> str:
    """Remove the tags of an HTML error page."""
    return re.sub(r"<[^<>]{0,500}>", " ", text[:_MAX_PAGE_CHARACTERS]) if "<" in text else text
