"""Undo entries in words, and which of them are offered."""

import pytest

from tejat.app.session.undo.text import change_counts, latest_entries, undoable_entries
from tejat.core.frozen import replace
from tejat.core.undo import ForeignChange, PathChange, PathKind, PathProblem, PathState, UndoEntry

NODE = PathState(PathKind.FILE)


def entry(name: str, *paths: str) -> UndoEntry:
    changes = tuple(PathChange("/r", path, before=None, after=NODE) for path in paths)
    return UndoEntry(name, 1.0, "run_shell_command", "w", changes)


@pytest.mark.parametrize(
    "path",
    [
        "__pycache__",
        "a/__pycache__/b.cpython-311.pyc",
        "old.pyc",
        ".pytest_cache/v/cache/lastfailed",
        "x/.mypy_cache/y",
        ".coverage",
        "x/.DS_Store",
    ],
)
def test_caches_are_passed_over(path: str) -> None:
    cache, change = entry("cache", path), entry("change", "a.py")
    assert latest_entries([cache, change], 1) == [change]
    assert latest_entries([entry("both", path, "b.py"), change], 1) == [entry("both", path, "b.py")]
    assert latest_entries([cache], 1) == [cache]


def test_what_cannot_be_undone_is_passed_over() -> None:
    lost = replace(entry("lost"), skipped=(PathProblem("/r/big", "too large"),))
    others = replace(entry("others", "a"), foreign=(ForeignChange("/r/a", "why", is_proven=True),))
    assert latest_entries([lost, others, entry("x", "a"), entry("y", "b"), entry("z", "c")], 2) == [
        entry("x", "a"),
        entry("y", "b"),
    ]


def test_undone_calls_and_undos_are_not_offered() -> None:
    done = replace(entry("done", "a"), undone_by="undo")
    undo = replace(entry("undo", "a"), tool="undo", undoes="done")
    part = replace(entry("part", "a"), tool="undo")
    assert undoable_entries([part, undo, done, entry("x", "a")]) == [entry("x", "a")]


def test_counts() -> None:
    mixed = replace(entry("x", "a", "b"), foreign=(ForeignChange("/r/a", "why", is_proven=True),))
    assert change_counts(mixed) == "1 created, 1 by other programs"
    assert change_counts(entry("x")) == "nothing that can be undone"
