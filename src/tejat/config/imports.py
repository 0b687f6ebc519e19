"""Puts the files into a context file that it imports with `@path`."""

import os
import re
from collections import deque
from collections.abc import Callable, Sequence

from tejat.config.context_text import ContextReader, Unreadable
from tejat.core.words import phrase

MOST_DEPTH = 5

# Compiled when a file imports something, which few do.
_MENTION = r"(?<!\S)@((?:[./]|[^\W\d_])\S*)"
_FENCE = r" {0,3}(`{3,}|~{3,})"
_TICKS = r"`+"
_ADDRESS = r"[A-Za-z][A-Za-z0-9+.-]*://"
_CLOSING = ".,;:!?)]}>'\"*"


def import_in_place(path: str, text: str, *, reader: ContextReader, allowed: Sequence[str]) -> str:
    """The text of the file at `path` with each import in its place, between two comments.

    Files outside the `allowed` directories (real paths) are not read, nor is anything a second time. What stands in
    code is no import.
    """
    return _Tree(reader, allowed).fill(path, text)


def import_flat(path: str, text: str, *, reader: ContextReader, allowed: Sequence[str]) -> str:
    """The file at `path` and everything that it imports, one after the other, each once."""
    blocks: list[str] = []
    known = {path}
    waiting = deque([(path, text, 0)])
    while waiting:
        file, content, depth = waiting.popleft()
        blocks.append(f"--- File: {file} ---\n{content.strip()}\n--- End of File: {file} ---")
        for target in _found_in(content, os.path.dirname(file), reader, allowed):
            if target.real_path not in known and depth < MOST_DEPTH:
                known.add(target.real_path)
                try:
                    waiting.append((target.real_path, reader.read(target.real_path), depth + 1))
                except Unreadable as problem:
                    reader.warnings.append(
                        phrase(
                            "{file} imports {word}, which cannot be used: {why}.",
                            file=file,
                            word=target.word,
                            why=problem,
                        )
                    )
    return "\n\n".join(blocks)


class _Found:
    """A file that may be imported."""

    def __init__(self, word: str, real_path: str) -> None:
        self.word = word
        self.real_path = real_path


class _Refused:
    """Something that looks like an import and is none."""

    def __init__(self, word: str, reason: str) -> None:
        self.word = word
        self.reason = reason


class _Tree:
    """One context file while its imports are filled in."""

    def __init__(self, reader: ContextReader, allowed: Sequence[str]) -> None:
        self._reader = reader
        self._allowed = allowed
        self._open: list[str] = []
        self._done: set[str] = set()

    def fill(self, path: str, text: str) -> str:
        self._open.append(path)
        self._done.add(path)
        filled = _outside_code(text, lambda word: self._replacement(word, os.path.dirname(path)))
        self._open.pop()
        return filled

    def _replacement(self, word: str, directory: str) -> str:
        if not self._reader.may_look_up():
            return f"@{word}"
        target, rest = _target(word, directory, self._allowed)
        if target is None:
            return f"@{word}"
        if isinstance(target, _Refused):
            return f"<!-- Import failed: {target.word} - {target.reason} -->{rest}"
        return self._imported(target) + rest

    def _imported(self, target: _Found) -> str:
        word, path = target.word, target.real_path
        if path in self._open:
            return f"<!-- Circular import detected: {word} -->"
        if path in self._done:
            return f"<!-- File already processed: {word} -->"
        if len(self._open) > MOST_DEPTH:
            return f"<!-- Import failed: {word} - Maximum import depth ({MOST_DEPTH}) reached -->"
        try:
            text = self._reader.read(path)
        except Unreadable as problem:
            return f"<!-- Import failed: {word} - {problem} -->"
        content = self.fill(path, text).strip()
        return f"<!-- Imported from: {word} -->\n{content}\n<!-- End of import from: {word} -->"


def _found_in(text: str, directory: str, reader: ContextReader, allowed: Sequence[str]) -> list[_Found]:
    found: list[_Found] = []

    def note(word: str) -> str:
        target = _target(word, directory, allowed)[0] if reader.may_look_up() else None
        if isinstance(target, _Found):
            found.append(target)
        return ""

    _outside_code(text, note)
    return found


def _target(word: str, directory: str, allowed: Sequence[str]) -> tuple[_Found | _Refused | None, str]:
    """What a word after `@` means, None if it is just a word; and what of it ends the sentence, not the name."""
    if re.match(_ADDRESS, word):
        return _Refused(word, "Path traversal attempt"), ""
    bare = word.rstrip(_CLOSING)
    for name in dict.fromkeys((word, bare)):
        path = os.path.join(directory, name)
        if name and os.path.lexists(path):
            return _existing(name, os.path.realpath(path), allowed), word[len(name) :]
    if not _looks_like_a_file(bare):
        return None, ""
    leads_out = not _is_in(os.path.normpath(os.path.join(directory, bare)), allowed)
    return _Refused(bare, "Path traversal attempt" if leads_out else "File not found"), word[len(bare) :]


def _existing(name: str, real_path: str, allowed: Sequence[str]) -> _Found | _Refused:
    if not _is_in(real_path, allowed):
        return _Refused(name, "Path traversal attempt")
    if any(part == ".git" or part.startswith(".env") for part in real_path.lower().split("/")):
        return _Refused(name, "It may hold secrets")
    return _Found(name, real_path)


def _is_in(path: str, directories: Sequence[str]) -> bool:
    return any(path.startswith(f"{directory.rstrip('/')}/") for directory in directories)


def _looks_like_a_file(name: str) -> bool:
    """`@someone` and `@scope/package` are written for other reasons."""
    return name.startswith(("./", "../", "/")) or "." in os.path.basename(name)[1:-1]


def _outside_code(text: str, replace: Callable[[str], str]) -> str:
    """The text with every mention outside of code replaced. Takes linear time, whatever is written there."""
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
    code = _code_in(line)
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


def _code_in(line: str) -> list[tuple[int, int]]:
    """Where code stands in a line, the last piece first: between two runs of backticks of the same length."""
    runs = [(run.start(), run.end()) for run in re.finditer(_TICKS, line)]
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
