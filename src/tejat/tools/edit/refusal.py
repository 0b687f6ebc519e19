"""What the model is told when an edit is refused: what stands in the file that comes near, and what differs."""

from collections.abc import Iterator

from tejat.tools.edit.alignment import MISSING, STALE, Alignment
from tejat.tools.edit.finding import Refused
from tejat.tools.edit.given import Given
from tejat.tools.edit.page import Page

_MOST_LINES = 12
_MOST_CHARACTERS = 1_200
"""Of one place."""
_LONGEST = 300
"""Characters of a line that are shown."""
_MOST_DIFFERENCES = 4


def told(refused: Refused) -> str:
    """Further sentences for a refusal, empty if there is nothing to say. They hold text of the file."""
    if refused.is_large:
        return " Only the exact text was looked for, because the file or old_string is very large."
    given, page = refused.given, refused.page
    if given is None or page is None:
        return ""
    parts: list[str] = []
    if refused.is_applied:
        parts.append(" The edit seems to be applied already: the file has the text of new_string.")
    if refused.conflict is not None:
        parts.append(f" Line {refused.conflict.line + 1} {refused.conflict.reason}.")
    near = [alignment for alignment in refused.nearest if _is_near(given, alignment)]
    if len(near) > 1 and near[1].total <= near[0].total:
        parts.append(" Several places fit equally well; add lines around the one that is meant.")
    return "".join(parts) + "".join(_shown(given, page, alignment) for alignment in near)


def _is_near(given: Given, alignment: Alignment) -> bool:
    """Whether at least a third of the lines that are not blank is there."""
    there = [
        place is not None and cost < STALE
        for key, place, cost in zip(given.keys, alignment.places, alignment.costs, strict=True)
        if key
    ]
    return 3 * sum(there) >= len(there)


def _shown(given: Given, page: Page, alignment: Alignment) -> str:
    start, end = alignment.start, alignment.end
    lines = [_cut(line) for line in page.lines[start:end]]
    text = "\n".join(lines[:_MOST_LINES])[:_MOST_CHARACTERS]
    rest = "" if end - start <= _MOST_LINES else f"\n[{end - start - _MOST_LINES} more lines]"
    where = f"line {start + 1}" if end == start + 1 else f"lines {start + 1}-{end}"
    differences = "".join(f"\n- {difference}" for difference in list(_differences(given, page, alignment)))
    return f"\nNearest text in the file, {where}:\n{text}{rest}" + (
        f"\nWhat differs:{differences}" if differences else ""
    )


def _differences(given: Given, page: Page, alignment: Alignment) -> Iterator[str]:
    left = _MOST_DIFFERENCES
    for index, (line, place, cost) in enumerate(zip(given.lines, alignment.places, alignment.costs, strict=True)):
        if not left:
            yield "and more"
            return
        if place is None:
            if cost >= MISSING:
                left -= 1
                yield f"old_string has a line that is not there: {_cut(line.strip())}"
            continue
        found = page.lines[place]
        if line == found or (not given.keys[index] and not page.keys[place]):
            continue
        left -= 1
        if given.keys[index] == page.keys[place]:
            yield f"line {place + 1}: white space or look-alike characters"
        else:
            yield f"line {place + 1}: old_string has `{_cut(line.strip())}`, the file `{_cut(found.strip())}`"


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
