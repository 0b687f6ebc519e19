"""Results of the edit search."""

from collections.abc import Sequence

from tejat.core.frozen import Frozen
from tejat.tools.edit.conflict import MergeConflict
from tejat.tools.edit.match.alignment import Alignment
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.search_block import SearchBlock
from tejat.workspace.text.text_edits import TextEdit


class EditMatch(Frozen):
    """Edits to make, the number of places, and how the request was corrected (empty if it was exact)."""

    edits: list[TextEdit]
    count: int
    corrections: tuple[str, ...] = ()


class EditRefusal(Frozen):
    """Reason for a refused edit.

    `count` is the number of `exact_edits`. `block` is the text that was searched for, `nearest` the best
    places for it; `conflict` describes the problem at the first of them. `is_applied` means that the file has
    the new text. `rewrapped_range` are the lines with the same words and other line breaks.
    """

    count: int = 0
    block: SearchBlock | None = None
    target: IndexedFile | None = None
    nearest: Sequence[Alignment] = ()
    conflict: MergeConflict | None = None
    is_applied: bool = False
    is_too_large: bool = False
    exact_edits: Sequence[TextEdit] = ()
    rewrapped_range: tuple[int, int] | None = None
