"""Recognition of errors about requests that exceed the context window of a model."""

import re
from collections.abc import Mapping

from tejat.core.model import ContextOverflow
from tejat.models.wire.json_access import as_count

# Not compiled: errors are rare, and compiling would slow down every start.
_TOO_LONG = (
    r"(?:prompt|input|request|context|conversation)(?: length)? is too (?:long|large)"
    r"|(?:maximum|max|available|model's) context (?:length|size|window)"
    r"|exceeds? the (?:context|maximum (?:number of tokens|input length|prompt length)|available context)"
    r"|exceeds? context (?:limit|length|size|window)|too many (?:input )?tokens|context.?length.?exceeded"
    r"|payload size exceeds|input token count"
)
_NUMBER = r"(\d{1,3}(?:,\d{3})+|\d{2,9})"
_WINDOW = (
    rf"context (?:length|size|window)(?: of| is)?:? \(?{_NUMBER}"
    rf"|number of tokens allowed:? \(?{_NUMBER}"
    rf"|> {_NUMBER} maximum"
)
_TOKENS = (
    rf"(?:requested|resulted in|input token count|contains at least|request|too long:) "
    rf"\(?{_NUMBER}(?:\)| (?:input )?tokens)"
)


def is_context_too_long(text: str) -> bool:
    """Return whether the message of an error says that the request is too long for the model."""
    return re.search(_TOO_LONG, text, re.IGNORECASE) is not None


def parse_overflow(text: str, error: Mapping[str, object]) -> ContextOverflow:
    """Return the figures in an error about a request that is too long, 0 where it has none."""
    tokens, window = as_count(error.get("n_prompt_tokens")), as_count(error.get("n_ctx"))
    return ContextOverflow(tokens or _find_number(_TOKENS, text), window or _find_number(_WINDOW, text))


def _find_number(pattern: str, text: str) -> int:
    found = re.search(pattern, text, re.IGNORECASE)
    return 0 if found is None else int(next(filter(None, found.groups())).replace(",", ""))
