"""Marking of server text as untrusted."""

import re

_OPEN_TAG = "<untrusted_context>"
_CLOSE_TAG = "</untrusted_context>"
_FORGED_CLOSE_TAG = r"(?i)<(?=\s*/\s*untrusted_context)"


def wrap_untrusted(text: str) -> str:
    """Wrap the text of a server for the model.

    Server text is the likeliest place for instructions that the user never gave. It cannot end the mark, as a closing
    tag in it is escaped. Displays stay plain.
    """
    return f"{_OPEN_TAG}\n{re.sub(_FORGED_CLOSE_TAG, '&lt;', text)}\n{_CLOSE_TAG}"
