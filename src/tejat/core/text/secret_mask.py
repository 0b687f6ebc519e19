"""Masking of secrets in text that is shown, logged or stored."""

import re
from collections.abc import Iterable, Mapping
from functools import partial

from tejat.core.i18n import map_lazy
from tejat.core.text.token_shapes import find_tokens

MASK = "***"

# Also what is not quite a key: services shorten those that they repeat.
_KEY_PATTERN = (
    r"AIza[\w-]{20,}"
    r"|ya29\.[\w.-]{10,}"
    r"|\bsk-[\w-]{12,}"
    r"|(?<=[Bb]earer )[\w.~+/=-]{8,}"
    r"|(?<=[?&]key=)[^&\s\"']+"
)


class TextMask:
    """Replaces secret values in text, longer ones first. A lazy string stays lazy."""

    def __init__(self, replacements: Mapping[str, str]) -> None:
        self._replacements = {secret: replacements[secret] for secret in sorted(replacements, key=len, reverse=True)}

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(self._replacements)

    def mask_text(self, text: str) -> str:
        for secret, replacement in self._replacements.items():
            if secret in text:
                text = map_lazy(text, partial(_replace, secret, replacement))
        return text


def anonymous_mask(secrets: Iterable[str], *, min_length: int) -> TextMask:
    """A mask that hides which secret it was. Secrets shorter than `min_length` may occur in text by chance and stay."""
    return TextMask({secret: MASK for secret in secrets if len(secret) >= min_length})


def mask_tokens(text: str) -> str:
    """Mask keys and tokens of well-known shapes, for what is written to a file. Ordinary text stays."""
    return replace_tokens(text)[0]


def replace_tokens(text: str) -> tuple[str, int]:
    """Mask keys and tokens of well-known shapes, and return their number too."""
    count = 0
    while ranges := find_tokens(text):
        pieces: list[str] = []
        position = 0
        for start, end in ranges:
            pieces += text[position:start], MASK
            position = end
        text = "".join([*pieces, text[position:]])
        count += len(ranges)
    return text, count


def mask_keys(text: str) -> str:
    """Mask whatever looks like an API key or a token in a message of a service."""
    return re.sub(_KEY_PATTERN, MASK, mask_tokens(text))


def _replace(old: str, new: str, text: str) -> str:
    return text.replace(old, new)
