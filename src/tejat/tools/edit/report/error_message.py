"""Explanation of a refused edit for the model: the nearest text in the file, and what differs."""

import unicodedata
from collections.abc import Iterator, Sequence

from tejat.tools.edit.match.alignment import Alignment
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.line_match import MatchKind
from tejat.tools.edit.match.related_lines import distinctive_words, find_related_lines
from tejat.tools.edit.match.search_block import SearchBlock, indent_of
from tejat.tools.edit.report.snippet import find_focus, format_lines, truncate_line
from tejat.tools.edit.request import EditRequest
from tejat.tools.edit.result import EditRefusal

_MAX_DIFFERENCES = 4
_MAX_SHOWN = 3
_MAX_NUMBERS = 20
_MAX_FIRST_LINES = 5


def explain_refusal(refused: EditRefusal, request: EditRequest) -> str:
    """Explain a refusal in further sentences, which may quote the file; empty if there is nothing to say."""
    target = refused.target
    if not request.old.strip():
        return " old_string is nothing but white space: add text from the lines around the place."
    if refused.count:
        return _explain_count(refused, request)
    if refused.is_too_large:
        return (
            " Only the exact text was looked for: the file or old_string is very large, and nothing rare in old_string"
            " is there. Find the place with search_file_content."
        )
    if target is None:
        return ""
    if refused.rewrapped_range:
        return " The words stand in the file with other line breaks, where the change is not certain." + _format_range(
            "In the file", *refused.rewrapped_range, target, distinctive_words(request.old)
        )
    block = refused.block
    near = [alignment for alignment in refused.nearest if block and _is_near(block, alignment)]
    if block is None or not near:
        return _explain_reasons(refused) + ("" if refused.is_applied else _explain_unrelated(request.old, target))
    fitting = sum(alignment.total_cost <= near[0].total_cost for alignment in near)
    parts = [_explain_reasons(refused)]
    if request.expected is not None and request.expected > 1:
        parts.append(f" {request.expected} places were expected, and not as many fit.")
    elif fitting > 1:
        parts.append(" Several places fit equally well; add lines around the one that is meant.")
    return "".join(parts) + "".join(_explain_candidate(block, target, alignment) for alignment in near)


def _explain_reasons(refused: EditRefusal) -> str:
    applied = " The edit seems to be applied already: the file has the text of new_string."
    conflict = refused.conflict
    target = refused.target
    reason = f" Line {target.line_number(conflict.line)} {conflict.reason}." if conflict and target else ""
    return (applied if refused.is_applied else "") + reason


# --- text with another number of occurrences ---


def _explain_count(refused: EditRefusal, request: EditRequest) -> str:
    exact, target = refused.exact_edits, refused.target
    ranges = [target.line_range(edit.start, edit.end) for edit in exact[:_MAX_NUMBERS]] if target else []
    numbers = ", ".join(str(target.line_number(start)) for start, _ in ranges) if target else ""
    more = f" and {refused.count - len(ranges)} more" if refused.count > len(ranges) else ""
    where = f"It begins in line {numbers}. " if refused.count == 1 else f"They begin in lines {numbers}{more}. "
    if refused.count > (request.expected or 0):
        advice = "Add lines around the one that is meant; to change all of them,"
    else:
        advice = "To change no more than that,"
    words = distinctive_words(request.old)
    return f". {where if ranges else ''}{advice} set expected_replacements to {refused.count}." + "".join(
        _format_range("In the file", max(start - 1, 0), min(end + 1, len(target.lines)), target, words)
        for start, end in ranges[:_MAX_SHOWN]
        if target
    )


# --- text that was not found ---


def _explain_unrelated(old: str, target: IndexedFile) -> str:
    """Describe what there is if nothing is similar."""
    if not any(target.keys):
        return " The file is empty."
    count = target.line_count
    size = f" The file has {count} {'line' if count == 1 else 'lines'}"
    common = find_related_lines(old, target)
    if common is None:
        return f"{size} and none of the telling words of old_string: is another file meant?" + _format_range(
            "How it begins", 0, min(_MAX_FIRST_LINES, count), target, ()
        )
    return f"{size}, and no text that is like old_string." + _format_range(
        "The text that shares most words with it", *common, target, distinctive_words(old)
    )


def _format_range(what: str, start: int, end: int, target: IndexedFile, words: Sequence[str]) -> str:
    first, last = target.line_number(start), target.line_number(end - 1)
    where = f"line {first}" if first == last else f"lines {first}-{last}"
    return f"\n{what}, {where}:\n{format_lines(target.lines[start:end], words)}"


def _is_near(block: SearchBlock, alignment: Alignment) -> bool:
    """Check that at least a third of the nonblank lines match."""
    there = [
        place is not None and match.is_known
        for key, place, match in zip(block.keys, alignment.positions, alignment.matches, strict=True)
        if key
    ]
    return 3 * sum(there) >= len(there)


def _explain_candidate(block: SearchBlock, target: IndexedFile, alignment: Alignment) -> str:
    words = [line.strip() for line in block.lines if line.strip()]
    differences = "".join(f"\n- {difference}" for difference in _find_differences(block, target, alignment))
    return _format_range("Nearest text in the file", alignment.start, alignment.end, target, words) + (
        f"\nWhat differs:{differences}" if differences else ""
    )


def _find_differences(block: SearchBlock, target: IndexedFile, alignment: Alignment) -> Iterator[str]:
    left = _MAX_DIFFERENCES
    lines = zip(block.lines, alignment.positions, alignment.matches, strict=True)
    for index, (line, place, match) in enumerate(lines):
        if not left:
            yield "and more"
            return
        if place is None:
            if match.kind is MatchKind.MISSING:
                left -= 1
                yield f"old_string has a line that is not there: {truncate_line(line.strip())}"
            continue
        found = target.lines[place]
        if line == found or (not block.keys[index] and not target.keys[place]):
            continue
        left -= 1
        number = target.line_number(place)
        if block.keys[index] == target.keys[place]:
            yield f"line {number}: {_describe_whitespace_difference(line, found)}"
        else:
            bare = found.strip()
            there = truncate_line(bare, find_focus(bare, (line.strip(),)))
            yield f"line {number}: old_string has `{truncate_line(line.strip())}`, the file `{there}`"


def _describe_whitespace_difference(given: str, found: str) -> str:
    """Describe a difference between lines with equal keys, which models hardly see."""
    if given.strip() == found.strip():
        if indent_of(given) != indent_of(found):
            ours, theirs = _describe_indent(indent_of(given)), _describe_indent(indent_of(found))
            return f"old_string is indented by {ours}, the file by {theirs}"
        return "white space at the end"
    if "".join(given.split()) == "".join(found.split()):
        return "white space inside the line"
    unknown = dict.fromkeys(sign for sign in found if sign not in given and not sign.isascii())
    names = ", ".join(f"`{sign}` ({unicodedata.name(sign, f'U+{ord(sign):04X}')})" for sign in list(unknown)[:3])
    return f"look-alike characters; the file has {names}" if names else "look-alike characters"


def _describe_indent(indent: str) -> str:
    tabs, spaces = indent.count("\t"), indent.count(" ")
    counts = [f"{n} {one if n == 1 else f'{one}s'}" for n, one in ((tabs, "tab"), (spaces, "space")) if n]
    return " and ".join(counts) or "nothing"
