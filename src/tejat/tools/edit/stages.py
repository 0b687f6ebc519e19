"""Where in a file the text stands that an edit means.

The stages are tried in order and the first that finds anything decides. A stage sees the file and the request, changes
nothing, and answers with the places it found. A further stage is one more function in `STAGES`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tejat.workspace.splice import TextEdit, TextFile


@dataclass(frozen=True, slots=True)
class EditRequest:
    """`expected` is how many places must be found; None accepts any number."""

    old: str
    new: str
    expected: int | None = 1

    def accepts(self, count: int) -> bool:
        return count > 0 if self.expected is None else count == self.expected


def exact(file: TextFile, request: EditRequest) -> list[TextEdit]:
    """The text as it was given, whatever the file's encoding and line endings are."""
    return [TextEdit(place.start, place.end, request.new) for place in file.find_all(request.old)]


Stage = Callable[[TextFile, EditRequest], list[TextEdit]]

STAGES: tuple[Stage, ...] = (exact,)


def find_edits(file: TextFile, request: EditRequest) -> list[TextEdit]:
    """The places to change, of whatever number: it is for the caller to say whether that number is right."""
    for stage in STAGES:
        edits = stage(file, request)
        if edits:
            return edits
    return []


def keeping_final_newline(file: TextFile, edits: list[TextEdit]) -> list[TextEdit]:
    """The same edits, made so that the file ends with a line end if and only if it did before.

    A file that becomes empty stays empty.
    """
    if not edits or edits[-1].end != len(file.raw):
        return edits
    *others, last = edits
    ended = _line_ends_at(file, len(file.raw))
    ends = last.text.endswith(("\n", "\r")) if last.text else _line_ends_at(file, last.start)
    if ended and not ends and (last.text or last.start > len(file.encoding.bom)):
        return [*others, TextEdit(last.start, last.end, last.text + "\n")]
    if ends and not ended and last.text:
        shorter = last.text[:-2] if last.text.endswith("\r\n") else last.text[:-1]
        return [*others, TextEdit(last.start, last.end, shorter)]
    return edits


def _line_ends_at(file: TextFile, offset: int) -> bool:
    ends = tuple(file.encoding.encode_new(end) for end in ("\n", "\r"))
    return file.raw.endswith(ends, len(file.encoding.bom), offset)
