"""The last stage of an edit: somebody is asked which text was meant, and the answer is checked before it is used."""

import hashlib
import re

from tejat.core.failed_edit import Corrector, FailedEdit
from tejat.tools.edit.carry_over import carried_over
from tejat.tools.edit.distance import distance
from tejat.tools.edit.request import EditRequest
from tejat.workspace.splice import TextEdit, TextFile

MOST_CONTENT = 256 * 2**10
"""Bytes of a file that may be sent along with the question."""
MOST_GIVEN = 20_000
"""Characters of the text that was meant; a longer one is not compared in reasonable time."""
RESEMBLANCE = 3
"""One character in so many may differ, white space aside. With more it would be another text, and a guess."""

_MOST_REMEMBERED = 64
# A slip in the brackets and quotes of these changes what they mean, and nobody sees it.
_NOT_CORRECTED = (".json", ".ipynb", ".jsonc", ".json5")
_LINE_END = re.compile("\r\n?")


class Corrections:
    """Asks once about each edit, so that what was shown to the person is what is done, and nobody is asked twice."""

    def __init__(self, corrector: Corrector) -> None:
        self._corrector = corrector
        self._answers: dict[bytes, str | None] = {}

    async def of(self, edit: FailedEdit) -> str | None:
        key = _key(edit)
        if key not in self._answers:
            answer = await self._corrector(edit)
            if len(self._answers) >= _MOST_REMEMBERED:
                del self._answers[next(iter(self._answers))]
            self._answers[key] = None if answer is None else with_plain_line_ends(answer)
        return self._answers[key]


def _key(edit: FailedEdit) -> bytes:
    state = hashlib.sha256()
    for text in (edit.path, edit.content, edit.old, edit.new):
        raw = text.encode("utf-8", "surrogatepass")
        state.update(b"%d:" % len(raw) + raw)
    return state.digest()


def can_be_corrected(path: str, file: TextFile, old: str) -> bool:
    return (
        not path.lower().endswith(_NOT_CORRECTED)
        and len(file.raw) <= MOST_CONTENT
        and len(old) <= MOST_GIVEN
        and bool(old.strip())
    )


def with_plain_line_ends(text: str) -> str:
    return _LINE_END.sub("\n", text)


def find_corrected(file: TextFile, request: EditRequest, corrected: str) -> list[TextEdit]:
    """The places to change if `corrected` is the text that was meant; none unless that is beyond doubt.

    It has to stand in the file as often as expected and to resemble what was given, and the change has to make sense
    there. What the change leaves alone stays as it is in the file.
    """
    old, new = with_plain_line_ends(request.old), with_plain_line_ends(request.new)
    if corrected == old or _swallows(file, old, corrected) or not _resembles(old, corrected):
        return []
    places = file.find_all(corrected)
    if not request.accepts(len(places)):
        return []
    text = carried_over(old, corrected, new)
    return [] if text is None else [TextEdit(place.start, place.end, text) for place in places]


def _swallows(file: TextFile, old: str, corrected: str) -> bool:
    """Whether little was meant and most of the file would be taken, if only its white space."""
    return len(corrected) > 2 * len(old) and 2 * len(corrected) > len(file.text)


def _resembles(old: str, corrected: str) -> bool:
    given, found = "".join(old.split()), "".join(corrected.split())
    most = len(given) // RESEMBLANCE
    return abs(len(given) - len(found)) <= most and distance(given, found, most=most) <= most
