"""What others changed meanwhile is told from what the call changed, by times, names and the entries of others."""

import os
from pathlib import Path

import pytest

from tejat.core.frozen import replace
from tejat.core.undo import ForeignChange, PathChange, PathKind, PathState, UndoEntry
from tejat.workspace.undo.attribution.activity import Activity
from tejat.workspace.undo.attribution.call_window import CallWindow
from tejat.workspace.undo.attribution.foreign_changes import CallTimes, find_foreign_changes, mark_contested

SECOND = 1_000_000_000
NODE = PathState(PathKind.FILE)
WAITING = "changed while the call was waiting"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "f"
    path.touch()
    return path


def times(change: int, *, started: float, ended: float, active: tuple[float, float] | None = None) -> CallTimes:
    """Times in seconds before and after a change."""
    begin, end = active or (started, ended)
    activity = Activity(((change + int(begin * SECOND), change + int(end * SECOND)),))
    run = change + int(started * SECOND), change + int(ended * SECOND)
    return CallTimes(run[0] - 10 * SECOND, *run, run[1] + 10 * SECOND, activity)


def reasons(
    file: Path, when: CallTimes, *, named: tuple[str, ...] = (), changed: bool = True
) -> list[tuple[str, bool]]:
    change = PathChange(str(file.parent), file.name, before=NODE if changed else None, after=NODE)
    return [(foreign.reason, foreign.is_proven) for foreign in find_foreign_changes([change], when, named)]


def test_by_times(file: Path) -> None:
    at = file.stat().st_ctime_ns
    assert reasons(file, times(at, started=-1, ended=1)) == []
    assert reasons(file, times(at, started=1, ended=2)) == [("changed before the call started", True)]
    assert reasons(file, times(at, started=-2, ended=-1)) == [("changed after the call ended", True)]
    assert reasons(file, times(at, started=-9, ended=9, active=(1, 2))) == [(WAITING, True)]
    long = "changed while the call was running (18 seconds), possibly by another program"
    assert reasons(file, times(at, started=-9, ended=9)) == [(long, False)]


def test_a_clock_that_differs_proves_nothing(file: Path) -> None:
    at = file.stat().st_ctime_ns
    assert reasons(file, times(at, started=100, ended=101)) == []
    assert reasons(file, times(at, started=-101, ended=-100)) == []


def test_what_is_named_and_new_is_its_own(file: Path) -> None:
    """Something else may have written it for the call, such as a container."""
    at = file.stat().st_ctime_ns
    waiting, long = times(at, started=-9, ended=9, active=(1, 2)), times(at, started=-9, ended=9)
    for when in (waiting, long):
        assert reasons(file, when, named=(str(file),), changed=False) == []
        assert len(reasons(file, when, named=(str(file),))) == 1
    assert reasons(file, times(at, started=1, ended=2), named=(str(file),), changed=False) != []


def test_a_removal_has_the_time_of_its_directory(tmp_path: Path) -> None:
    at = tmp_path.stat().st_mtime_ns
    change = PathChange(str(tmp_path), "gone/too", before=NODE, after=None)
    (foreign,) = find_foreign_changes([change], times(at, started=-9, ended=9, active=(1, 2)), ())
    assert foreign == ForeignChange(f"{tmp_path}/gone/too", WAITING, is_proven=True)
    assert find_foreign_changes([change], times(at, started=-1, ended=1), ()) == ()


def test_a_link_has_its_own_time(tmp_path: Path, file: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("f")
    os.utime(file, (0, 0))
    at = link.lstat().st_ctime_ns
    assert reasons(link, times(at, started=-9, ended=9, active=(1, 2))) == [(WAITING, True)]


def entry(name: str, started: float, ended: float, *paths: str, named: tuple[str, ...] = ()) -> UndoEntry:
    changes = tuple(PathChange("/r", path, before=None, after=NODE) for path in paths)
    return UndoEntry(name, ended, "t", "w", changes, started=started, named=named)


def foreign(entries: list[UndoEntry], *windows: CallWindow) -> list[dict[str, bool]]:
    return [{other.path: other.is_proven for other in each.foreign} for each in mark_contested(entries, (), windows)]


def test_what_two_calls_changed_belongs_to_the_one_that_names_it() -> None:
    first = entry("1", 0, 10, "a", "b", "c", named=("/r/a",))
    second = entry("2", 5, 20, "a", "b", "d", named=("/r/b",))
    assert foreign([first, second]) == [{"/r/b": True}, {"/r/a": True}]


def test_what_nobody_or_everybody_names() -> None:
    first = entry("1", 0, 10, "a", "b", named=("/r/b",))
    second = entry("2", 5, 20, "a", "b", named=("/r/b",))
    assert foreign([first, second]) == [{"/r/a": False}, {"/r/a": False}]


def test_exact_calls_win() -> None:
    command, edit = entry("1", 0, 10, "a"), entry("2", 5, 5.1, "a", named=("/",))
    assert foreign([edit, command]) == [{}, {"/r/a": True}]


def test_one_after_the_other_is_no_overlap() -> None:
    assert foreign([entry("1", 0, 10, "a"), entry("2", 10.1, 20, "a")]) == [{}, {}]


def test_a_proof_is_not_weakened_and_a_doubt_is_proven() -> None:
    doubt = ForeignChange("/r/a", "doubt", is_proven=False)
    proof = ForeignChange("/r/b", "proof", is_proven=True)
    first = replace(entry("1", 0, 10, "a", "b"), foreign=(doubt, proof))
    second = entry("2", 5, 20, "a", "b", named=("/r/a",))
    assert foreign([first, second]) == [{"/r/a": True, "/r/b": True}, {}]


def test_entries_of_other_projects_count() -> None:
    command, edit = entry("1", 0, 10, "a"), entry("2", 5, 5.1, "a", named=("/",))
    (marked,) = mark_contested([command], [edit], ())
    assert [other.path for other in marked.foreign] == ["/r/a"]


def test_beside_a_call_without_an_entry() -> None:
    """It is still running, or it was killed: nobody knows what it changed."""
    first = entry("1", 0, 10, "a", "b", named=("/r/b",))
    assert foreign([first], CallWindow(5, None)) == [{"/r/a": False}]
    assert foreign([first], CallWindow(5, 7), CallWindow(20, None)) == [{"/r/a": False}]
    assert foreign([first], CallWindow(11, None)) == [{}]
