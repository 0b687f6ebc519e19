"""Repair of a prefix (list, quotation, comment) that only the file or only the request has before every line."""

import re
from collections.abc import Sequence

from tejat.tools.edit.conflict import MergeConflict
from tejat.tools.edit.match.alignment import Alignment
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.normalize import line_key
from tejat.tools.edit.match.search_block import SearchBlock, indent_of, split_lines
from tejat.tools.edit.request import EditRequest

_BULLETS = ("-", "*", "+")
_ADDED_PREFIXES = ("-", "+", ">", "//")
"""Prefixes that are added. For `#` and `*` it is less clear what was meant."""
_BULLET = re.compile(r"\s*([-*+]) +(?=\S)")
_CODE = re.compile(r"[;{}()=\[\]]")
_MIN_LINES = 2
"""Lines that have to agree."""
_PREFIX_CHARACTERS = "-+*>#/;%|•"


def with_file_prefixes(request: EditRequest, target: IndexedFile) -> EditRequest | None:
    """Give both texts the prefix that the file has before every line; None if that is uncertain."""
    old, new = split_lines(request.old), split_lines(request.new)
    lines = [line for line in (*old, *new) if line.strip()]
    bullets = {found[1] if (found := _BULLET.match(line)) else "" for line in lines}
    if len(bullets) != 1 or not any(map(str.strip, old)) or _has_inner_blank_line(new):
        return None
    own = bullets.pop()
    bodies = [line_key(_strip_prefix(line, own)) for line in old if line.strip()]
    marks = [mark for mark in (_BULLETS if own else _ADDED_PREFIXES) if mark != own]
    found = [mark for mark in marks if target.key_set.issuperset(map(mark.__add__, bodies))]
    if len(bodies) < _MIN_LINES or len(found) != 1 or (found[0] == "//" and any(map(_CODE.search, lines))):
        return None
    there = target.lines[target.keys.index(found[0] + bodies[0])].lstrip()
    mark = found[0] + indent_of(there.removeprefix(found[0]))
    return EditRequest(_with_prefix(old, own, mark), _with_prefix(new, own, mark), request.expected)


def check_prefixes(block: SearchBlock, target: IndexedFile, alignment: Alignment) -> None:
    """Raise MergeConflict if all lines differ from the file by the same prefix."""
    places = [
        (block.keys[index], target.keys[place], place)
        for index, place in enumerate(alignment.positions)
        if place is not None and block.distinctive[index]
    ]
    marks = {_differing_prefixes(key, found) for key, found, _ in places}
    if len(places) >= _MIN_LINES and len(marks) == 1 and marks != {None}:
        raise MergeConflict(places[0][2], "has another mark before it than in old_string, and so have all others")


def _differing_prefixes(key: str, found: str) -> tuple[str, str] | None:
    """Prefixes of the same text on both sides; None if they are equal or not prefixes."""
    given_body, found_body = key.lstrip(_PREFIX_CHARACTERS), found.lstrip(_PREFIX_CHARACTERS)
    if key == found or not found_body or given_body != found_body:
        return None
    return key.removesuffix(given_body), found.removesuffix(found_body)


def _with_prefix(lines: Sequence[str], own: str, mark: str) -> str:
    return "\n".join(f"{indent_of(line)}{mark}{_strip_prefix(line, own)}" if line.strip() else line for line in lines)


def _strip_prefix(line: str, mark: str) -> str:
    bare = line.lstrip(" \t")
    return bare.removeprefix(mark).lstrip(" \t") if mark else bare


def _has_inner_blank_line(lines: Sequence[str]) -> bool:
    nonblank = [index for index, line in enumerate(lines) if line.strip()]
    return bool(nonblank) and nonblank[-1] - nonblank[0] + 1 != len(nonblank)
