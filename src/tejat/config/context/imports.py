"""Expansion of `@path` imports in context files."""

import os
import re
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tejat.config.context.reader import ContextReader, UnreadableContextFile
from tejat.core.i18n import lazy

MAX_DEPTH = 5

# Compiled on first use: few files import anything.
_MENTION = r"(?<!\S)@((?:[./]|[^\W\d_])\S*)"
_FENCE = r" {0,3}(`{3,}|~{3,})"
_BACKTICKS = r"`+"
_URL = r"[A-Za-z][A-Za-z0-9+.-]*://"
_TRAILING_PUNCTUATION = ".,;:!?)]}>'\"*"


def expand_imports_inline(path: str, text: str, *, reader: ContextReader, allowed: Sequence[str]) -> str:
    """Replace each import in a text by the file's content, between two comments.

    Files outside the `allowed` directories (real paths) are not read, and no file is read twice. Code is left alone.
    """
    return _ImportTree(reader, allowed).expand(path, text)


def expand_imports_flat(path: str, text: str, *, reader: ContextReader, allowed: Sequence[str]) -> str:
    """The file at `path` and all that it imports, one after the other, each once."""
    blocks: list[str] = []
    known = {path}
    waiting = deque([(path, text, 0)])
    while waiting:
        file, content, depth = waiting.popleft()
        blocks.append(f"--- File: {file} ---\n{content.strip()}\n--- End of File: {file} ---")
        for target in _find_targets(content, os.path.dirname(file), reader, allowed):
            if target.real_path not in known and depth < MAX_DEPTH:
                known.add(target.real_path)
                try:
                    waiting.append((target.real_path, reader.read(target.real_path), depth + 1))
                except UnreadableContextFile as problem:
                    warning = lazy(
                        "{file} imports {word}, which was skipped: {why}.", file=file, word=target.word, why=problem
                    )
                    reader.warnings.append(warning)
    return "\n\n".join(blocks)


class _ImportTarget(NamedTuple):
    word: str
    real_path: str


class _RefusedImport(NamedTuple):
    """An import that is not allowed or not possible."""

    word: str
    reason: str


class _ImportTree:
    """A context file during the expansion of its imports."""

    def __init__(self, reader: ContextReader, allowed: Sequence[str]) -> None:
        self._reader = reader
        self._allowed = allowed
        self._open: list[str] = []
        self._done: set[str] = set()

    def expand(self, path: str, text: str) -> str:
        self._open.append(path)
        self._done.add(path)
        filled = _replace_outside_code(text, lambda word: self._replacement(word, os.path.dirname(path)))
        self._open.pop()
        return filled

    def _replacement(self, word: str, directory: str) -> str:
        if not self._reader.count_import():
            return f"@{word}"
        target, rest = _resolve_import(word, directory, self._allowed)
        if target is None:
            return f"@{word}"
        if isinstance(target, _RefusedImport):
            return f"<!-- Import failed: {target.word} - {target.reason} -->{rest}"
        return self._import_file(target) + rest

    def _import_file(self, target: _ImportTarget) -> str:
        word, path = target.word, target.real_path
        if path in self._open:
            return f"<!-- Circular import detected: {word} -->"
        if path in self._done:
            return f"<!-- File already processed: {word} -->"
        if len(self._open) > MAX_DEPTH:
            return f"<!-- Import failed: {word} - Maximum import depth ({MAX_DEPTH}) reached -->"
        try:
            text = self._reader.read(path)
        except UnreadableContextFile as problem:
            return f"<!-- Import failed: {word} - {problem} -->"
        content = self.expand(path, text).strip()
        return f"<!-- Imported from: {word} -->\n{content}\n<!-- End of import from: {word} -->"


def _find_targets(text: str, directory: str, reader: ContextReader, allowed: Sequence[str]) -> list[_ImportTarget]:
    found: list[_ImportTarget] = []

    def note(word: str) -> str:
        target = _resolve_import(word, directory, allowed)[0] if reader.count_import() else None
        if isinstance(target, _ImportTarget):
            found.append(target)
        return ""

    _replace_outside_code(text, note)
    return found


def _resolve_import(
    word: str, directory: str, allowed: Sequence[str]
) -> tuple[_ImportTarget | _RefusedImport | None, str]:
    """The target of a word after `@`, None if it is not a path; and trailing punctuation."""
    if re.match(_URL, word):
        return _RefusedImport(word, "Path traversal attempt"), ""
    bare = word.rstrip(_TRAILING_PUNCTUATION)
    for name in dict.fromkeys((word, bare)):
        path = os.path.join(directory, name)
        if name and os.path.lexists(path):
            return _check_existing(name, os.path.realpath(path), allowed), word[len(name) :]
    if not _looks_like_a_file(bare):
        return None, ""
    leads_out = not _is_beneath(os.path.normpath(os.path.join(directory, bare)), allowed)
    return _RefusedImport(bare, "Path traversal attempt" if leads_out else "File not found"), word[len(bare) :]


def _check_existing(name: str, real_path: str, allowed: Sequence[str]) -> _ImportTarget | _RefusedImport:
    if not _is_beneath(real_path, allowed):
        return _RefusedImport(name, "Path traversal attempt")
    if any(part == ".git" or part.startswith(".env") for part in real_path.lower().split("/")):
        return _RefusedImport(name, "It may hold secrets")
    return _ImportTarget(name, real_path)


def _is_beneath(path: str, directories: Sequence[str]) -> bool:
    return any(path.startswith(f"{directory.rstrip('/')}/") for directory in directories)


def _looks_like_a_file(name: str) -> bool:
    """`@someone` and `@scope/package` are not paths."""
    return name.startswith(("./", "../", "/")) or "." in os.path.basename(name)[1:-1]


def _replace_outside_code(text: str, replace: Callable[[str], str]) -> str:
    """Replace every mention outside of code. Takes linear time."""
    if "@" not in text:
        return text
    lines = text.split("\n")
    fence = ""
    for index, line in enumerate(lines):
        mark = re.match(_FENCE, line)
        if mark is not None:
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
        elif not fence and "@" in line:
            lines[index] = _replace_in_line(line, replace)
    return "\n".join(lines)


def _replace_in_line(line: str, replace: Callable[[str], str]) -> str:
    code = _find_code_spans(line)
    filled: list[str] = []
    end = 0
    for mention in re.finditer(_MENTION, line):
        while code and code[-1][1] <= mention.start():
            code.pop()
        if code and code[-1][0] < mention.start():
            continue
        filled += [line[end : mention.start()], replace(mention[1])]
        end = mention.end()
    return "".join([*filled, line[end:]])


def _find_code_spans(line: str) -> list[tuple[int, int]]:
    """The code spans of a line, the last first: between two runs of backticks of equal length."""
    runs = [(run.start(), run.end()) for run in re.finditer(_BACKTICKS, line)]
    partner: dict[int, int] = {}
    later: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        start, end = runs[index]
        if end - start in later:
            partner[index] = later[end - start]
        later[end - start] = index
    code: list[tuple[int, int]] = []
    index = 0
    while index < len(runs):
        closing = partner.get(index)
        if closing is None:
            index += 1
            continue
        code.append((runs[index][0], runs[closing][1]))
        index = closing + 1
    return code[::-1]
