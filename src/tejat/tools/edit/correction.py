"""Correction of an edit by a model, verified before it is used. The last stage of an edit."""

import hashlib

from tejat.core.tools.edit_failure import EditCorrector, EditFailure
from tejat.tools.edit.match.levenshtein import levenshtein_distance
from tejat.tools.edit.match.search_block import normalize_line_endings
from tejat.tools.edit.merge.transplant import transplant_change
from tejat.tools.edit.request import EditRequest
from tejat.workspace.text.text_edits import TextEdit, TextFile

MAX_CONTENT_BYTES = 256 * 2**10
"""Limit for the file content sent with the question."""
MAX_OLD_STRING_LENGTH = 20_000
"""Longer texts take too long to compare."""
SIMILARITY_DIVISOR = 3
"""One character in this many may differ, ignoring white space. With more, the text would be a guess."""

_MAX_CACHED = 64
# A mistake in brackets or quotes changes the meaning of these files unnoticed.
_EXCLUDED_SUFFIXES = (".json", ".ipynb", ".jsonc", ".json5")


class CorrectionCache:
    """Cached corrections, so that the applied edit is the one that was shown, and each edit is asked about once."""

    def __init__(self, corrector: EditCorrector) -> None:
        self._corrector = corrector
        self._answers: dict[bytes, str | None] = {}

    async def get_correction(self, edit: EditFailure) -> str | None:
        key = _cache_key(edit)
        if key not in self._answers:
            answer = await self._corrector(edit)
            if len(self._answers) >= _MAX_CACHED:
                del self._answers[next(iter(self._answers))]
            self._answers[key] = None if answer is None else normalize_line_endings(answer)
        return self._answers[key]


def _cache_key(edit: EditFailure) -> bytes:
    state = hashlib.sha256()
    for text in (edit.path, edit.content, edit.old_string, edit.new_string):
        raw = text.encode("utf-8", "surrogatepass")
        state.update(b"%d:" % len(raw) + raw)
    return state.digest()


def is_correctable(path: str, file: TextFile, old: str) -> bool:
    return (
        not path.lower().endswith(_EXCLUDED_SUFFIXES)
        and len(file.raw) <= MAX_CONTENT_BYTES
        and len(old) <= MAX_OLD_STRING_LENGTH
        and bool(old.strip())
    )


def find_corrected(file: TextFile, request: EditRequest, corrected: str) -> list[TextEdit]:
    """Find the edits if `corrected` is the intended text; empty unless that is certain.

    The corrected text must occur as often as expected and be similar to the given one, and the change must apply to it.
    Unchanged parts stay as they are in the file.
    """
    old, new = normalize_line_endings(request.old), normalize_line_endings(request.new)
    # A short text is not extended to most of the file.
    covers_most = len(corrected) > 2 * len(old) and 2 * len(corrected) > len(file.text)
    if corrected == old or covers_most or not _is_similar(old, corrected):
        return []
    places = file.find_all(corrected)
    if not request.accepts_count(len(places)):
        return []
    text = transplant_change(old, corrected, new)
    return [] if text is None else [TextEdit(place.start, place.end, text) for place in places]


def _is_similar(old: str, corrected: str) -> bool:
    given, found = "".join(old.split()), "".join(corrected.split())
    most = len(given) // SIMILARITY_DIVISOR
    return abs(len(given) - len(found)) <= most and levenshtein_distance(given, found, limit=most) <= most
