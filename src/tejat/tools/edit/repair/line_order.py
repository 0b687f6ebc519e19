"""Lines that the old text has in another order than the file.

The old text is put in the order of the file. The new text stays if it has that order already; otherwise its lines are
moved like the old ones.
"""

from collections import Counter
from collections.abc import Sequence

from tejat.tools.edit.conflict import MergeConflict
from tejat.tools.edit.match.alignment import Alignment
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.normalize import is_distinctive, line_key
from tejat.tools.edit.match.search_block import SearchBlock, split_lines
from tejat.tools.edit.request import EditRequest
from tejat.workspace.text.line_edits import compute_line_edits

_MAX_MOVED_LINES = 8
_MAX_DISTANCE = 12
_MAX_BRACKET_DISTANCE = 3
_AFTER = 1e-3


def find_file_order(block: SearchBlock, target: IndexedFile, alignment: Alignment) -> list[int] | None:
    """Find the order in which the file has the lines of the block, as their indexes; None if it is the same."""
    lost = [
        index
        for index, match in enumerate(alignment.matches)
        if block.keys[index] and not match.is_known and not block.elisions[index]
    ]
    if not 0 < len(lost) <= _MAX_MOVED_LINES:
        return None
    places: dict[int, float] = {
        index: place
        for index, place in enumerate(alignment.positions)
        if place is not None and alignment.matches[index].is_known
    }
    places |= {index: start - 0.5 for index, (start, _) in alignment.elided.items()}
    free = _free_lines(target, alignment, set(places.values()), len(lost))
    is_any_found = False
    for index in lost:
        near = _place_before(places, index, alignment)
        reach = _MAX_DISTANCE if is_distinctive(block.keys[index]) else _MAX_BRACKET_DISTANCE
        fitting = [line for line in free if target.keys[line] == block.keys[index] and abs(line - near) <= reach]
        if fitting:
            places[index] = min(fitting, key=lambda line: abs(line - near))
            free.remove(int(places[index]))
            is_any_found = True
    if not is_any_found:
        return None
    for index in range(len(block.lines)):
        if index not in places:
            places[index] = _place_before(places, index, alignment) + _AFTER
    order = sorted(range(len(block.lines)), key=lambda index: (places[index], index))
    return None if order == list(range(len(order))) else order


def _free_lines(target: IndexedFile, alignment: Alignment, taken: "set[float]", count: int) -> list[int]:
    """Lines of the place, and a few around it, that no line of the block matches."""
    start, end = max(alignment.start - count, 0), min(alignment.end + count, len(target.keys))
    return [line for line in range(start, end) if line not in taken and target.keys[line]]


def _place_before(places: "dict[int, float]", index: int, alignment: Alignment) -> float:
    """Place of the nearest line above that has one, else before the first line."""
    known = (places[above] for above in range(index - 1, -1, -1) if above in places)
    return next(known, alignment.start - 1.0)


def check_order(block: SearchBlock, new: Sequence[str], target: IndexedFile, alignment: Alignment) -> None:
    """Raise MergeConflict if lines are to be moved and one of them stands amid the place once more.

    Then it is unknown whether they are to be moved, or the old text has them in another order than the file.
    """
    keys, new_keys = Counter(filter(None, block.keys)), Counter(map(line_key, new))
    common = keys & new_keys
    if common.total() == _count_kept(block.keys, list(map(line_key, new))):
        return
    taken = {place for place in alignment.positions if place is not None}
    for line in range(alignment.start, alignment.end):
        if line not in taken and common[target.keys[line]] and not alignment.elided:
            raise MergeConflict(line, "may be one of the lines that old_string has in another order")


def _count_kept(old: Sequence[str], new: Sequence[str]) -> int:
    """Number of nonblank lines that a change keeps in their order."""
    edits = compute_line_edits(old, new)
    gone = {index for edit in edits for index in range(edit.old_start, edit.old_end)}
    return sum(bool(key) for index, key in enumerate(old) if index not in gone)


def reorder_request(request: EditRequest, order: Sequence[int]) -> EditRequest | None:
    """Put both texts in the order of the file; None if it is uncertain where new lines go."""
    old, new = SearchBlock.for_edit(request.old, request.new).lines, request.new_lines
    moved = [old[index] for index in order]
    less = _change_size(old, new) - _change_size(moved, new)
    out_of_place = [line for line, other in zip(old, moved, strict=True) if line != other]
    if not less and not all(is_distinctive(line_key(line)) for line in out_of_place):
        return None  # It is unknown which bracket is meant.
    reordered = new if less > 0 else _reorder_new(old, new, order)
    if reordered is None:
        return None
    old_end = "\n" if len(split_lines(request.old)) > len(old) else ""
    new_end = "\n" if request.new and len(split_lines(request.new)) > len(new) else ""
    return EditRequest("\n".join(moved) + old_end, "\n".join(reordered) + new_end, request.expected)


def _reorder_new(old: Sequence[str], new: Sequence[str], order: Sequence[int]) -> list[str] | None:
    """Move the lines that became of the old ones; None if lines are put in or replaced amid those that move."""
    first = next(index for index, at in enumerate(order) if index != at)
    end = next(index for index in range(len(order), 0, -1) if order[index - 1] != index - 1)
    became: list[Sequence[str]] = [[line] for line in old]
    added: dict[int, Sequence[str]] = {}
    done = shift = 0
    for edit in compute_line_edits([line_key(line) for line in old], [line_key(line) for line in new]):
        for index in range(done, edit.old_start):
            became[index] = [new[index + shift]]
        done, shift = edit.old_end, edit.new_end - edit.old_end
        count, lines = edit.old_end - edit.old_start, new[edit.new_start : edit.new_end]
        is_amid = edit.old_start < end and first < edit.old_end
        if not count:
            if first < edit.old_start < end:
                return None
            added[edit.old_start] = lines
        elif len(lines) in {0, count}:
            became[edit.old_start : edit.old_end] = [[line] for line in lines] or [[]] * count
        elif is_amid:
            return None
        else:
            became[edit.old_start : edit.old_end] = [lines, *([[]] * (count - 1))]
    for index in range(done, len(old)):
        became[index] = [new[index + shift]]
    made: list[str] = []
    for place, index in enumerate(order):
        made += [*added.get(place, ()), *became[index]]
    return [*made, *added.get(len(order), ())]


def _change_size(old: Sequence[str], new: Sequence[str]) -> int:
    """Number of lines that the change removes and adds."""
    edits = compute_line_edits([line_key(line) for line in old], [line_key(line) for line in new])
    return sum(edit.old_end - edit.old_start + edit.new_end - edit.new_start for edit in edits)
