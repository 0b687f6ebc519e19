"""Source texts of cases: files of installed packages and changes from the history of this repository.

Both depend only on what is installed and on the first commits, not on the time or later commits.
"""

import os
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[2]

_COMMITS = 400
_LEAST_LINES, _MOST_LINES = 12, 2_500
_LONGEST_LINE = 300
_SHARES = {
    ".py": 40,
    ".js": 12,
    ".ts": 8,
    ".md": 8,
    ".json": 5,
    ".html": 4,
    ".h": 5,
    ".c": 3,
    ".toml": 3,
    ".yml": 3,
    ".css": 2,
    ".sh": 2,
    ".pyi": 3,
}
"""Relative frequency of each file type."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text with LF line ends. `final_newline` tells whether the last line has one."""

    suffix: str
    lines: tuple[str, ...]
    final_newline: bool


@dataclass(frozen=True, slots=True)
class Hunk:
    """A real change: lines `start` to `end` of a file became `new`."""

    source: Source
    start: int
    end: int
    new: tuple[str, ...]


def random_source(rng: Random, suffixes: tuple[str, ...] = ()) -> Source:
    """Pick a file, of one of these types if given."""
    files = _files()
    kinds = sorted(kind for kind in files if not suffixes or kind in suffixes)
    while True:
        kind = rng.choices(kinds, [_SHARES[kind] for kind in kinds])[0]
        source = _read(rng.choice(files[kind]))
        if source is not None:
            return source


def random_hunk(rng: Random) -> Hunk | None:
    """Pick a change of the history; None without history, or if the pick is unusable."""
    changes = _changes()
    if not changes:
        return None
    old_blob, new_blob, suffix = rng.choice(changes)
    old, new = _blob(old_blob, suffix), _blob(new_blob, suffix)
    if old is None or new is None:
        return None
    codes = SequenceMatcher(None, old.lines, new.lines, autojunk=False).get_opcodes()
    hunks = [code for code in codes if code[0] != "equal" and max(code[2] - code[1], code[4] - code[3]) <= 15]
    if not hunks:
        return None
    _, i, j, k, m = rng.choice(hunks)
    return Hunk(old, i, j, new.lines[k:m])


@cache
def _files() -> dict[str, list[str]]:
    roots = [sysconfig.get_path("purelib"), sysconfig.get_path("stdlib"), str(ROOT / "tests" / "node" / "node_modules")]
    found: dict[str, list[str]] = {}
    for root in roots:
        for path in _walk(root):
            suffix = os.path.splitext(path)[1]
            if suffix in _SHARES:
                found.setdefault(suffix, []).append(path)
    return found


def _walk(root: str) -> Iterator[str]:
    for directory, names, files in os.walk(root):
        names[:] = sorted(name for name in names if name not in {"__pycache__", "tejat"})
        if directory.startswith(root) and "site-packages" in os.path.relpath(directory, root):
            names.clear()
            continue
        yield from (os.path.join(directory, name) for name in sorted(files))


@cache
def _read(path: str) -> Source | None:
    try:
        raw = Path(path).read_bytes()
    except OSError:
        return None
    return _usable(raw, os.path.splitext(path)[1])


def _usable(raw: bytes, suffix: str) -> Source | None:
    if len(raw) > 200_000:
        return None
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    lines = text.split("\n")
    final = lines[-1] == ""
    if final:
        lines.pop()
    long = any(len(line) > _LONGEST_LINE for line in lines)
    odd = any(mark in text for mark in "\r\f\v\0\x1b\x85\u2028\u2029\ufeff")
    if long or odd or not _LEAST_LINES <= len(lines) <= _MOST_LINES:
        return None
    return Source(suffix, tuple(lines), final)


@cache
def _changes() -> list[tuple[str, str, str]]:
    """Blobs before and after, and the suffix, of every file that one of the first commits modified."""
    if not (ROOT / ".git").exists():
        return []
    listed = _git("rev-list", "--reverse", "--no-merges", "HEAD").split()[:_COMMITS]
    listed_changes = _git(
        "diff-tree", "-r", "--no-commit-id", "--diff-filter=M", "--stdin", given="\n".join(listed) + "\n"
    )
    changes: list[tuple[str, str, str]] = []
    for line in listed_changes.splitlines():
        modes, _, path = line.partition("\t")
        suffix = os.path.splitext(path)[1]
        if suffix in _SHARES:
            _, _, old, new, _ = modes.split()
            changes.append((old, new, suffix))
    return changes


@cache
def _blob(name: str, suffix: str) -> Source | None:
    return _usable(_git_bytes("cat-file", "blob", name), suffix)


def _git(*words: str, given: str = "") -> str:
    return _git_bytes(*words, given=given).decode()


def _git_bytes(*words: str, given: str = "") -> bytes:
    done = subprocess.run(["git", "-C", str(ROOT), *words], input=given.encode(), capture_output=True, check=True)
    return done.stdout
