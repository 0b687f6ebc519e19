"""A watched tree has the state that a scan finds, whatever was done to it, and its records know what was before."""

import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.errors import WorkspaceError
from tejat.workspace.files.roots import Roots
from tejat.workspace.paths.ignore_rules import IgnoreRules
from tejat.workspace.threads.stop import never_stop
from tejat.workspace.undo.digest_cache import DigestCache
from tejat.workspace.undo.live import inotify, live_tree
from tejat.workspace.undo.live.live_tree import CannotWatch, CurrentRules, LiveTree, LostTrack
from tejat.workspace.undo.private_directory import PrivateDirectory
from tejat.workspace.undo.snapshot import Snapshot
from tejat.workspace.undo.tree_state import TooManyEntries, TreeScan, TreeState

NAMES = st.sampled_from(
    ["a", "b", "c", "d/a", "d/b", "d/e/a", "d/e", "d", "f/a", "f", "node_modules/a", "node_modules"]
)
ACTIONS = st.sampled_from(
    ["write", "append", "remove", "mkdir", "rename", "chmod", "link", "hard link", "pipe", "touch"]
)
STEPS = st.lists(st.tuples(ACTIONS, NAMES, NAMES), min_size=1, max_size=6)


@contextmanager
def watched(root: Path, **limits: int) -> Generator[LiveTree]:
    with Roots([str(root)]) as roots:
        rules = IgnoreRules(roots.first.real_path, git=True, gemini=True)
        digests = DigestCache(PrivateDirectory(f"{root}.state"), str(root))
        tree = LiveTree(TreeScan(roots, roots.first, rules), digests, **{"limit": 1000, **limits})
        try:
            tree.build(never_stop)
            yield tree
        finally:
            tree.close()


def scan(root: Path, before: TreeState | None = None) -> TreeState:
    with Roots([str(root)]) as roots:
        rules = IgnoreRules(roots.first.real_path, git=True, gemini=True)
        found = TreeScan(roots, roots.first, rules)
        return found.run(limit=1000, stop=never_stop, unwatched=None if before is None else before.unwatched)


def current(root: Path, signature: int = 0) -> CurrentRules:
    return CurrentRules(IgnoreRules(str(root), git=True, gemini=True), ((signature,),))


def do(root: Path, action: str, one: str, other: str) -> None:
    path, second = root / one, root / other
    if action in ("write", "append", "hard link") and path.is_fifo():
        return  # it would wait for a reader; of files that are not restored only one name is looked at
    with suppress(OSError):
        match action:
            case "write":
                path.write_text(other)
            case "append":
                with open(path, "a") as file:
                    file.write("x")
            case "remove":
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            case "mkdir":
                path.mkdir(parents=True)
            case "rename":
                path.rename(second)
            case "chmod":
                path.chmod(0o700 + len(other))
            case "link":
                path.symlink_to(other)
            case "hard link":
                os.link(path, second)
            case "pipe":
                os.mkfifo(path)
            case _:
                os.utime(path, (1, 1))


def may_hide_link(before: list[tuple[str, str, str]], step: tuple[str, str, str]) -> bool:
    """Whether the step may take away a new hard link. Gone before it was looked at, it tells nothing of its file."""
    return step[0] in ("remove", "rename") and any(action == "hard link" for action, _one, _other in before)


@settings(max_examples=150, deadline=None)
@given(first=STEPS, second=STEPS, third=STEPS)
def test_any_changes(
    first: list[tuple[str, str, str]], second: list[tuple[str, str, str]], third: list[tuple[str, str, str]]
) -> None:
    with tempfile.TemporaryDirectory() as base:
        root = Path(os.path.realpath(base))
        for name in ("d/e", "f", "node_modules"):
            (root / name).mkdir(parents=True)
            (root / name / "a").write_text(name)
        for step in first:
            do(root, *step)
        with watched(root) as tree:
            assert tree.full_state() == scan(root)
            for number, step in enumerate(second):
                if may_hide_link(second[:number], step):
                    tree.refresh(never_stop, rules=current(root))
                do(root, *step)
            tree.refresh(never_stop, rules=current(root))
            before = scan(root)
            assert tree.full_state() == before
            record = tree.open_record()
            after = before
            for number, step in enumerate(third):
                if number == 3 or may_hide_link(third[:number], step):
                    tree.refresh(never_stop)
                    after = scan(root, after)  # it sees what is gone too: its inode may be used again
                do(root, *step)
            tree.refresh(never_stop)
            after = scan(root, after)
            assert tree.full_state() == after
            assert tree.snapshot_at(record) == Snapshot(str(root), before, dict(before.files))
            for kind in ("files", "links", "directories", "special_files", "unwatched"):
                old, new = getattr(before, kind), getattr(after, kind)
                changed = {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}
                assert changed <= record.paths
            now = tree.state_of(record.paths)
            assert now.files == {path: key for path, key in after.files.items() if path in record.paths}
            assert len(tree) == len(after)


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def test_two_directories_change_places(tmp_path: Path) -> None:
    make(tmp_path, "a/in/1", "b/in/2")
    with watched(tmp_path) as tree:
        for one, other in (("a", "x"), ("b", "a"), ("x", "b")):
            (tmp_path / one).rename(tmp_path / other)
        make(tmp_path, "a/in/3", "b/in/3")
        tree.refresh(never_stop)
        assert set(tree.full_state().files) == {"a/in/2", "a/in/3", "b/in/1", "b/in/3"}
        make(tmp_path, "a/in/4", "b/in/5")
        tree.refresh(never_stop)
        assert tree.full_state() == scan(tmp_path)


def test_every_call_has_its_own_record(tmp_path: Path) -> None:
    make(tmp_path, "a", "b")
    with watched(tmp_path) as tree:
        first = tree.open_record()
        (tmp_path / "a").write_text("1")
        tree.refresh(never_stop)
        second = tree.open_record()
        (tmp_path / "b").write_text("2")
        tree.refresh(never_stop)
        assert (first.paths, second.paths) == ({"a", "b"}, {"b"})
        assert first.before.files.keys() == {"a", "b"}
        tree.close_record(first)
        (tmp_path / "c").write_text("3")
        tree.refresh(never_stop)
        assert (first.paths, second.paths) == ({"a", "b"}, {"b", "c"})
        assert tree.pending.keys() == {"a", "b", "c"}


def test_a_change_through_another_name(tmp_path: Path) -> None:
    root = tmp_path / "root"
    make(root, "a", "d/b", "e")
    os.link(root / "a", tmp_path / "outside")
    with watched(root) as tree:
        (tmp_path / "outside").write_text("changed")
        os.link(root / "d" / "b", root / "c")
        (root / "c").write_text("changed")
        record = tree.open_record()
        tree.refresh(never_stop)
        assert tree.full_state() == scan(root)
        assert record.paths == {"a", "c", "d/b"}


def test_new_rules(tmp_path: Path) -> None:
    make(tmp_path, "build/a", "src/a", ".git/HEAD", ".gitignore")
    (tmp_path / ".gitignore").write_text("build/\n")
    with watched(tmp_path) as tree:
        tree.refresh(never_stop, rules=current(tmp_path))
        assert set(tree.full_state().unwatched) == {".git", "build"}
        (tmp_path / ".gitignore").write_text("other/\n")
        tree.refresh(never_stop)
        assert set(tree.full_state().unwatched) == {".git", "build"}
        (tmp_path / ".gitignore").write_text("another/\n")
        tree.refresh(never_stop, rules=current(tmp_path))
        assert tree.full_state() == scan(tmp_path)
        (tmp_path / ".geminiignore").write_text("later/\n")
        make(tmp_path, "later/a")
        tree.refresh(never_stop, rules=current(tmp_path, 1))
        assert set(tree.full_state().unwatched) == {".git", "later"}


def test_what_was_not_watched_is_so_until_the_call_has_ended(tmp_path: Path) -> None:
    make(tmp_path, "node_modules/a/b")
    with watched(tmp_path) as tree:
        (tmp_path / "node_modules").rename(tmp_path / "vendor")
        tree.refresh(never_stop)
        assert set(tree.full_state().unwatched) == {"vendor"}
        tree.refresh(never_stop, rules=current(tmp_path))
        assert tree.full_state() == scan(tmp_path)


def test_a_state_before_track_was_lost(tmp_path: Path) -> None:
    make(tmp_path, "a", "d/b")
    before = scan(tmp_path)
    with watched(tmp_path) as tree:
        record = tree.open_record()
        (tmp_path / "a").unlink()
        tree.refresh(never_stop)
        tree.close()
        make(tmp_path, "c")
        for _ in range(2):
            with pytest.raises(LostTrack):
                tree.refresh(never_stop)
        assert tree.is_broken
        assert tree.snapshot_at(record).state == before


def test_after_an_interruption_the_tree_is_built_again(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def stop() -> None:
        raise Enough

    with watched(tmp_path) as tree:
        make(tmp_path, "a")
        with pytest.raises(Enough):
            tree.refresh(stop)
        with pytest.raises(LostTrack):
            tree.refresh(never_stop)


def test_the_queue_overflows(tmp_path: Path) -> None:
    with open("/proc/sys/fs/inotify/max_queued_events", encoding="ascii") as limit:
        events = int(limit.read())
    if events > 20_000:
        pytest.skip("the queue is long here")
    make(tmp_path, "a", "b")
    with watched(tmp_path) as tree:
        for _ in range(events // 2 + 10):
            os.utime(tmp_path / "a")
            os.utime(tmp_path / "b")
        with pytest.raises(LostTrack):
            tree.refresh(never_stop)


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a/1", "b/1", "c/1")
    with pytest.raises(TooManyEntries), watched(tmp_path, limit=5):
        pass
    with watched(tmp_path, limit=6) as tree:
        make(tmp_path, "d/1")
        with pytest.raises(TooManyEntries):
            tree.refresh(never_stop)
    monkeypatch.setattr(live_tree, "max_watches", lambda: 3)
    with pytest.raises(CannotWatch), watched(tmp_path):
        pass


@pytest.mark.parametrize("change", [lambda path: path.rmdir(), lambda path: path.rename(path.with_name("gone"))])
def test_the_root_is_gone(tmp_path: Path, change: Callable[[Path], object]) -> None:
    root = tmp_path / "root"
    root.mkdir()
    with watched(root) as tree:
        change(root)
        with suppress(LostTrack, WorkspaceError):
            tree.refresh(never_stop)
            assert len(tree) == 0


def test_other_file_systems_are_not_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_tree, "file_system_type", lambda _: 0x6969)  # NFS
    with pytest.raises(CannotWatch), watched(tmp_path):
        pass


def test_new_mounts_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with watched(tmp_path) as tree:
        tree.refresh(never_stop)
        monkeypatch.setattr(live_tree, "mounts_beneath", lambda _: frozenset(("a mount",)))
        with pytest.raises(LostTrack):
            tree.refresh(never_stop)
    assert inotify.mounts_beneath("/") >= inotify.mounts_beneath("/proc")
