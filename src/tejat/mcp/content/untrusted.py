"""Marks what a server said, so that a model can tell it from what the person and the program say."""

import re

_OPEN_TAG = "<untrusted_context>"
_CLOSE_TAG = "</untrusted_context>"
_FORGED_CLOSE_TAG = r"(?i)<(?=\s*/\s*untrusted_context)"


def wrap_untrusted(text: str) -> str:
    """The text of a server as a model reads it.

    It costs a dozen tokens a result and is worth them: what comes from a server is the likeliest place for orders that
    the person never gave, and this is the one mark that such a text cannot end by itself, because an end within it is
    escaped. What a person sees stays plain.
    """
    return f"{_OPEN_TAG}\n{re.sub(_FORGED_CLOSE_TAG, '&lt;', text)}\n{_CLOSE_TAG}"
