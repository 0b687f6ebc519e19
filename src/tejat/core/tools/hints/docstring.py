"""Docstring parsing: the summary, and the descriptions of parameters."""

import re
from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc

from tejat.core.frozen import Frozen

_HEADINGS = frozenset(
    {"args", "arguments", "attributes", "keyword args", "keyword arguments", "other parameters", "parameters", "params"}
)
_UNDERLINE = re.compile(r"-{3,}\s*$")
_SECTION = re.compile(r"[A-Z][A-Za-z ]*:\s*$")
_GOOGLE_ENTRY = re.compile(r"\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:(?:\s+|$)(.*)")
_NUMPY_ENTRY = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
_FIELD = re.compile(r":(\w+)[^:]*:")
_SPHINX_ENTRY = re.compile(
    r":(?:param|parameter|arg|argument|key|keyword|var|ivar)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)"
)


class Docstring(Frozen):
    """`summary` is the first paragraph, in one line. `parameters` holds the described ones."""

    summary: str
    parameters: Mapping[str, str]


def parse_docstring(text: str) -> Docstring:
    """Parse a docstring in Google (`Args:`), Sphinx (`:param x:`) or NumPy (underlined) style."""
    lines = cleandoc(text).splitlines()
    found: dict[str, list[str]] = {}
    for names, text in _entries(lines):
        for name in names:
            found.setdefault(name, []).append(text)
    parameters = {name: _join_lines(pieces) for name, pieces in found.items()}
    described = {name: text for name, text in parameters.items() if text}
    return Docstring(_join_lines(_first_paragraph(lines)), described)


def _first_paragraph(lines: Sequence[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        if not line.strip() or _FIELD.match(line) or _is_google_heading(line) or _is_numpy_heading(lines, index):
            return
        yield line


def _entries(lines: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
    """Parameter names with one line of their description at a time."""
    for index, line in enumerate(lines):
        if _SPHINX_ENTRY.match(line):
            yield from _sphinx_entry(lines[index:])
        elif _is_google_heading(line) and _is_parameter_heading(line.strip().removesuffix(":")):
            yield from _google_entries(lines[index + 1 :])
        elif _is_numpy_heading(lines, index) and _is_parameter_heading(line):
            yield from _numpy_entries(lines[index + 2 :])


def _is_parameter_heading(line: str) -> bool:
    return line.strip().lower() in _HEADINGS


def _is_google_heading(line: str) -> bool:
    return _SECTION.match(line) is not None


def _is_numpy_heading(lines: Sequence[str], index: int) -> bool:
    return index + 1 < len(lines) and bool(lines[index].strip()) and _UNDERLINE.match(lines[index + 1]) is not None


def _sphinx_entry(lines: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
    found = _SPHINX_ENTRY.match(lines[0])
    assert found is not None
    names = (found[1],)
    yield names, found[2]
    for line in lines[1:]:
        if not line.strip() or line.startswith(":"):
            return
        yield names, line


def _google_entries(lines: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
    """Entries are indented; deeper lines continue the entry above."""
    names: Sequence[str] = ()
    depth: int | None = None
    for line in lines:
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        if indent == 0:
            return
        depth = indent if depth is None else depth
        found = _GOOGLE_ENTRY.match(line.strip()) if indent <= depth else None
        names = (found[1],) if found else names
        yield names, found[2] if found else line


def _numpy_entries(lines: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
    """Names are at the margin, descriptions are indented below them."""
    names: Sequence[str] = ()
    for index, line in enumerate(lines):
        if _is_numpy_heading(lines, index):
            return
        if line.startswith(" "):
            yield names, line
        elif line.strip():
            found = _NUMPY_ENTRY.match(line)
            names = [name.strip().lstrip("*") for name in found[1].split(",")] if found else ()


def _join_lines(lines: Iterator[str] | Sequence[str]) -> str:
    return " ".join(" ".join(lines).split())
