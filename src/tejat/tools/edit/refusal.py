"""What the model is told when an edit is refused: what stands in the file that comes near, and what differs."""

import unicodedata
from collections.abc import Iterator, Sequence

from tejat.tools.edit.alignment import Alignment
from tejat.tools.edit.finding import Refused
from tejat.tools.edit.given import Given, indent_of
from tejat.tools.edit.nearest import lines_in_common, telling_words
from tejat.tools.edit.page import Page
from tejat.tools.edit.pairs import MISSING, STALE
from tejat.tools.edit.request import EditRequest
from tejat.tools.edit.showing import cut, place_of, shown

_MOST_DIFFERENCES = 4
_MOST_SHOWN = 3
_MOST_NUMBERS = 20
_FIRST_LINES = 5


def told(refused: Refused, request: EditRequest) -> str:
    """Further sentences for a refusal, empty if there is nothing to say. They hold text of the file."""
    page = refused.page
    if not request.old.strip():
        return " old_string is nothing but white space: add text from the lines around the place."
    if refused.count:
        return _places(refused, request)
    if refused.is_large:
        return (
            " Only the exact text was looked for: the file or old_string is very large, and nothing rare in old_string"
            " is there. Find the place with search_file_content."
        )
    if page is None:
        return ""
    if refused.rewrapped:
        return " The words stand in the file with other line breaks, where the change is not certain." + _stretch(
            "In the file", *refused.rewrapped, page, telling_words(request.old)
        )
    given = refused.given
    near = [alignment for alignment in refused.nearest if given and _is_near(given, alignment)]
    if given is None or not near:
        return _reasons(refused) + ("" if refused.is_applied else _in_common(request.old, page))
    fitting = sum(alignment.total <= near[0].total for alignment in near)
    parts = [_reasons(refused)]
    if request.expected is not None and request.expected > 1:
        parts.append(f" {request.expected} places were expected, and not as many fit.")
    elif fitting > 1:
        parts.append(" Several places fit equally well; add lines around the one that is meant.")
    return "".join(parts) + "".join(_place(given, page, alignment) for alignment in near)


def _reasons(refused: Refused) -> str:
    applied = " The edit seems to be applied already: the file has the text of new_string."
    conflict = refused.conflict
    page = refused.page
    reason = f" Line {page.number(conflict.line)} {conflict.reason}." if conflict and page else ""
    return (applied if refused.is_applied else "") + reason


# --- text that is there, but another number of times ---


def _places(refused: Refused, request: EditRequest) -> str:
    exact, page = refused.exact, refused.page
    ranges = [page.lines_at(edit.start, edit.end) for edit in exact[:_MOST_NUMBERS]] if page else []
    numbers = ", ".join(str(page.number(start)) for start, _ in ranges) if page else ""
    more = f" and {refused.count - len(ranges)} more" if refused.count > len(ranges) else ""
    where = f"It begins in line {numbers}. " if refused.count == 1 else f"They begin in lines {numbers}{more}. "
    if refused.count > (request.expected or 0):
        advice = "Add lines around the one that is meant; to change all of them,"
    else:
        advice = "To change no more than that,"
    words = telling_words(request.old)
    return f". {where if ranges else ''}{advice} set expected_replacements to {refused.count}." + "".join(
        _stretch("In the file", max(start - 1, 0), min(end + 1, len(page.lines)), page, words)
        for start, end in ranges[:_MOST_SHOWN]
        if page
    )


# --- text that is not there ---


def _in_common(old: str, page: Page) -> str:
    """What there is to go on where nothing is near."""
    if not any(page.keys):
        return " The file is empty."
    count = page.count
    size = f" The file has {count} {'line' if count == 1 else 'lines'}"
    common = lines_in_common(old, page)
    if common is None:
        return f"{size} and none of the telling words of old_string: is another file meant?" + _stretch(
            "How it begins", 0, min(_FIRST_LINES, count), page, ()
        )
    return f"{size}, and no text that is like old_string." + _stretch(
        "The text that shares most words with it", *common, page, telling_words(old)
    )


def _stretch(what: str, start: int, end: int, page: Page, words: Sequence[str]) -> str:
    first, last = page.number(start), page.number(end - 1)
    where = f"line {first}" if first == last else f"lines {first}-{last}"
    return f"\n{what}, {where}:\n{shown(page.lines[start:end], words)}"


def _is_near(given: Given, alignment: Alignment) -> bool:
    """Whether at least a third of the lines that are not blank is there."""
    there = [
        place is not None and cost < STALE
        for key, place, cost in zip(given.keys, alignment.places, alignment.costs, strict=True)
        if key
    ]
    return 3 * sum(there) >= len(there)


def _place(given: Given, page: Page, alignment: Alignment) -> str:
    words = [line.strip() for line in given.lines if line.strip()]
    differences = "".join(f"\n- {difference}" for difference in _differences(given, page, alignment))
    return _stretch("Nearest text in the file", alignment.start, alignment.end, page, words) + (
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
                yield f"old_string has a line that is not there: {cut(line.strip())}"
            continue
        found = page.lines[place]
        if line == found or (not given.keys[index] and not page.keys[place]):
            continue
        left -= 1
        if given.keys[index] == page.keys[place]:
            yield f"line {page.number(place)}: {_small_difference(line, found)}"
        else:
            bare = found.strip()
            there = cut(bare, place_of(bare, (line.strip(),)))
            yield f"line {page.number(place)}: old_string has `{cut(line.strip())}`, the file `{there}`"


def _small_difference(given: str, found: str) -> str:
    """What differs in lines that have the same key, in words: a model hardly sees it."""
    if given.strip() == found.strip():
        if indent_of(given) != indent_of(found):
            return f"old_string is indented by {_blanks(indent_of(given))}, the file by {_blanks(indent_of(found))}"
        return "white space at the end"
    if "".join(given.split()) == "".join(found.split()):
        return "white space inside the line"
    strange = dict.fromkeys(sign for sign in found if sign not in given and not sign.isascii())
    names = ", ".join(f"`{sign}` ({unicodedata.name(sign, f'U+{ord(sign):04X}')})" for sign in list(strange)[:3])
    return f"look-alike characters; the file has {names}" if names else "look-alike characters"


def _blanks(indent: str) -> str:
    tabs, spaces = indent.count("\t"), indent.count(" ")
    counts = [f"{n} {one if n == 1 else f'{one}s'}" for n, one in ((tabs, "tab"), (spaces, "space")) if n]
    return " and ".join(counts) or "nothing"
