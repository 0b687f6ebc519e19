"""What is laid in a root for a while goes again, however it ends, and nothing else does."""

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.workspace.sandbox.placeholders import MountPlaceholders, PlaceholderSet


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.fixture
def placeholders(tmp_path: Path) -> MountPlaceholders:
    return MountPlaceholders(str(tmp_path / "state"))


def names(root: Path) -> list[str]:
    return sorted(os.listdir(root))


def create(placeholders: MountPlaceholders, texts: Mapping[str, str | None]) -> PlaceholderSet:
    with placeholders.lock_existing() as standing:
        return placeholders.create(texts, standing)


def records(placeholders: MountPlaceholders) -> list[str]:
    return [name for name in os.listdir(placeholders._directory) if name.endswith(".json")]


def test_laid_and_released(root: Path, placeholders: MountPlaceholders) -> None:
    created = create(placeholders, {str(root / ".agent"): None, str(root / "common"): ".\n"})
    assert created.paths == (str(root / ".agent"), str(root / "common"))
    assert names(root) == [".agent", "common"]
    assert (root / "common").read_text() == ".\n"
    assert list((root / ".agent").iterdir()) == []
    created.release()
    created.release()
    assert names(root) == []
    assert records(placeholders) == []


def test_nothing_to_lay_leaves_no_record(placeholders: MountPlaceholders) -> None:
    created = create(placeholders, {})
    created.release()
    assert (created.record, created.paths) == (None, ())
    assert records(placeholders) == []


def test_the_records_are_for_nobody_else(root: Path, placeholders: MountPlaceholders) -> None:
    old = os.umask(0)
    try:
        created = create(placeholders, {str(root / ".agent"): None})
    finally:
        os.umask(old)
    assert created.record is not None
    assert stat.S_IMODE(os.stat(placeholders._directory).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(created.record).st_mode) == 0o600
    created.release()


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_shared_ones_stay_until_the_last(root: Path, placeholders: MountPlaceholders, order: list[int]) -> None:
    both = [create(placeholders, {str(root / ".agent"): None, str(root / name): None}) for name in ("first", "second")]
    both[order[0]].release()
    assert names(root) == [".agent", ["first", "second"][order[1]]]
    both[order[1]].release()
    assert names(root) == []


def test_what_somebody_put_in_stays(root: Path, placeholders: MountPlaceholders) -> None:
    created = create(
        placeholders, {str(root / name): text for name, text in (("a", None), ("b", "."), ("c", None), ("d", "."))}
    )
    (root / "a" / "mine").write_text("x")
    (root / "b").write_text("mine")
    (root / "c").rmdir()
    (root / "c").write_text("")
    (root / "d").unlink()
    (root / "d").mkdir()
    created.release()
    assert names(root) == ["a", "b", "c", "d"]


def test_what_was_there_before_stays(root: Path, placeholders: MountPlaceholders) -> None:
    (root / "old").mkdir()
    os.utime(root / "old", (1, 1))
    created = create(placeholders, {str(root / "old"): None})
    assert created.paths == (str(root / "old"),)
    created.release()
    assert names(root) == ["old"]


def test_where_something_else_stands_nothing_is_laid(root: Path, placeholders: MountPlaceholders) -> None:
    (root / "file").write_text("mine")
    (root / "directory").mkdir()
    os.utime(root / "directory", (1, 1))
    created = create(placeholders, {str(root / "file"): None, str(root / "directory"): ".\n"})
    assert created.paths == ()
    created.release()
    assert names(root) == ["directory", "file"]


def test_when_one_cannot_be_made_none_stays(root: Path, placeholders: MountPlaceholders) -> None:
    with pytest.raises(FileNotFoundError):
        create(placeholders, {str(root / "a"): None, str(root / "none" / "b"): None})
    assert names(root) == []
    assert records(placeholders) == []


CRASH = """
import os, sys
from tejat.workspace.sandbox.placeholders import MountPlaceholders
placeholders = MountPlaceholders(sys.argv[1])
with placeholders.lock_existing() as existing:
    placeholders.create({sys.argv[2]: None}, existing)
os.kill(os.getpid(), 9)
"""


def test_after_a_crash_the_next_one_cleans_up(tmp_path: Path, root: Path, placeholders: MountPlaceholders) -> None:
    done = subprocess.run([sys.executable, "-c", CRASH, tmp_path / "state", root / ".agent"], check=False)
    assert done.returncode == -9
    assert names(root) == [".agent"]
    placeholders.sweep()
    assert names(root) == []
    assert records(placeholders) == []


def test_a_sandbox_that_outlives_us_keeps_its_ghosts(root: Path, placeholders: MountPlaceholders) -> None:
    created = create(placeholders, {str(root / ".agent"): None})
    assert created.record is not None
    # As bubblewrap does with --lock-file, from a process of its own.
    holding = (
        "import fcntl, sys; f = open(sys.argv[1]); fcntl.lockf(f, fcntl.LOCK_SH); print(flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", holding, created.record], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        created.release()
        placeholders.sweep()
        assert names(root) == [".agent"]
        holder.kill()
    placeholders.sweep()
    assert names(root) == []


def test_a_record_that_cannot_be_read_is_dropped(root: Path, placeholders: MountPlaceholders) -> None:
    create(placeholders, {str(root / "a"): None}).release()
    broken = Path(placeholders._directory) / "broken.json"
    broken.write_text("{")
    placeholders.sweep()
    assert not broken.exists()


def test_a_record_of_a_link_does_not_lead_elsewhere(
    tmp_path: Path, root: Path, placeholders: MountPlaceholders
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text(".\n")
    created = create(placeholders, {str(root / "a"): ".\n", str(root / "b"): None})
    for name in ("a", "b"):
        path = root / name
        path.rmdir() if path.is_dir() else path.unlink()
        path.symlink_to(elsewhere)
    created.release()
    assert names(root) == ["a", "b"]
    assert elsewhere.read_text() == ".\n"


def test_what_was_let_go_of_is_kept_by_the_lock_of_a_sandbox_alone(root: Path, placeholders: MountPlaceholders) -> None:
    created = create(placeholders, {str(root / ".agent"): None})
    assert created.record is not None
    hold = "import fcntl, sys; file = open(sys.argv[1]); fcntl.lockf(file, fcntl.LOCK_SH); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", hold, created.record], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as sandbox:
        assert sandbox.stdout is not None
        sandbox.stdout.readline()
        created.detach()
        created.release()
        placeholders.sweep()
        assert names(root) == [".agent"]
        sandbox.communicate(b"\n")
    assert names(root) == [".agent"]
    placeholders.sweep()
    assert (names(root), records(placeholders)) == ([], [])
    created.detach()
    created.release()


def test_odd_names(root: Path, placeholders: MountPlaceholders) -> None:
    path = os.fsdecode(os.fsencode(root) + b"/-\xff\n \xe2\x82")
    created = create(placeholders, {path: None})
    assert created.record is not None
    assert json.loads(Path(created.record).read_text())[0][0] == path
    created.release()
    assert names(root) == []


def test_many_at_once(root: Path, placeholders: MountPlaceholders) -> None:
    failed: list[str] = []

    def work() -> None:
        for _ in range(15):
            created = create(
                placeholders, {str(root / "shared"): None, str(root / threading.current_thread().name): None}
            )
            if not (root / "shared").is_dir():
                failed.append("gone while somebody relied on it")
            created.release()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert names(root) == []


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(st.tuples(st.integers(0, 3), st.sets(st.sampled_from("abc"), min_size=1)), max_size=12))
def test_a_ghost_is_there_exactly_while_somebody_relies_on_it(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, set[str]]]
) -> None:
    top = tmp_path_factory.mktemp("ghosts")
    (top / "root").mkdir()
    placeholders = MountPlaceholders(str(top / "state"))
    using: dict[int, set[str]] = {}
    held = {}
    for who, wanted in steps:
        if who in held:
            held.pop(who).release()
            using.pop(who)
        else:
            held[who] = create(placeholders, {str(top / "root" / name): None for name in sorted(wanted)})
            using[who] = wanted
        assert set(names(top / "root")) == set().union(*using.values())
    for created in held.values():
        created.release()
    assert names(top / "root") == []
