"""What is seen where. The files are real; nothing is mounted here."""

import os
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from tejat.workspace.sandbox.mounts import Mounts, Seen
from tejat.workspace.sandbox.plan import Fence


@pytest.fixture
def top() -> Generator[Path]:
    """Not below /tmp, which commands see another one of."""
    with tempfile.TemporaryDirectory(prefix="mounts-", dir="/var/tmp") as directory:
        yield Path(directory).resolve()


def fence(
    *roots: Path,
    control: tuple[tuple[str, bool], ...] = (),
    hidden: tuple[Path, ...] = (),
    blocked: tuple[str, ...] = (),
) -> Fence:
    return Fence(tuple(map(str, roots)), "/none", control, tuple(map(str, hidden)), network=False, blocked=blocked)


def seen_below(top: Path, mounts: Mounts) -> dict[str, Seen]:
    return {path.removeprefix(f"{top}/"): seen for path, seen in mounts.in_order() if path.startswith(f"{top}/")}


def plan(
    top: Path,
    *roots: Path,
    control: tuple[tuple[str, bool], ...] = (),
    hidden: tuple[Path, ...] = (),
    blocked: tuple[str, ...] = (),
) -> Mounts:
    assert all(root.is_relative_to(top) for root in roots)
    return Mounts(fence(*roots, control=control, hidden=hidden, blocked=blocked), own_program=())


def test_a_control_file_is_read_only_and_all_above_it_is_pinned(top: Path) -> None:
    (top / "r" / "a" / "b").mkdir(parents=True)
    (top / "r" / "a" / "b" / "c").write_text("x")
    mounts = plan(top, top / "r", control=(("a/b/c", False),))
    assert list(seen_below(top, mounts).items()) == [
        ("r", Seen.WRITABLE),
        ("r/a", Seen.PINNED),
        ("r/a/b", Seen.PINNED),
        ("r/a/b/c", Seen.READ_ONLY),
    ]
    assert mounts.unguarded == ()


def test_of_what_is_missing_only_what_must_not_come_into_being_is_blocked(top: Path) -> None:
    (top / "r" / "there").mkdir(parents=True)
    control = ((".agent", True), ("there/d", True), ("there/e", True), ("a/b", True), (".git/config", False))
    mounts = plan(top, top / "r", control=control, blocked=(".agent", "there/d"))
    assert seen_below(top, mounts) == {
        "r": Seen.WRITABLE,
        "r/.agent": Seen.BLOCKED,
        "r/there": Seen.PINNED,
        "r/there/d": Seen.BLOCKED,
    }
    assert mounts.unguarded == tuple(str(top / "r" / name) for name in ("there/e", "a", ".git"))


def test_of_a_long_path_the_first_missing_part_is_blocked(top: Path) -> None:
    (top / "r").mkdir()
    assert seen_below(top, plan(top, top / "r", control=(("a/b", True), ("a/c", False)), blocked=("a",))) == {
        "r": Seen.WRITABLE,
        "r/a": Seen.BLOCKED,
    }


def test_what_stands_in_for_something_missing_is_still_missing(top: Path) -> None:
    for name in ("r/.agent", "r/.git/hooks"):
        (top / name).mkdir(parents=True)
    (top / "r" / ".git" / "commondir").write_text(".\n")
    control = ((".agent", True), (".git/hooks", True), (".git/commondir", False))
    stand_ins = {str(top / "r" / name) for name, _ in control}
    mounts = Mounts(fence(top / "r", control=control, blocked=(".agent",)), own_program=(), stand_ins=stand_ins)
    assert seen_below(top, mounts) == {
        "r": Seen.WRITABLE,
        "r/.agent": Seen.BLOCKED,
        "r/.git": Seen.PINNED,
        "r/.git/hooks": Seen.BLOCKED,
        "r/.git/commondir": Seen.SPELLED_OUT,
    }


def test_what_is_there_is_read_only_whether_it_is_to_be_blocked_or_not(top: Path) -> None:
    for name in ("r/.agent", "r/.editor"):
        (top / name).mkdir(parents=True)
    control = ((".agent", True), (".editor", True))
    assert seen_below(top, plan(top, top / "r", control=control, blocked=(".agent",))) == {
        "r": Seen.WRITABLE,
        "r/.agent": Seen.READ_ONLY,
        "r/.editor": Seen.READ_ONLY,
    }


def test_files_that_are_missing(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (top / "r" / ".git").mkdir(parents=True)
    (top / "r" / ".cargo").mkdir()
    control = ((".npmrc", False), (".git/config", False), (".git/commondir", False), (".cargo/config.toml", False))
    control += ((".git/hooks", True), (".git/info/attributes", False))
    mounts = plan(top, top / "r", control=control)
    assert seen_below(top, mounts) == {
        "r": Seen.WRITABLE,
        "r/.git": Seen.PINNED,
        "r/.git/config": Seen.BLOCKED,
        "r/.git/commondir": Seen.SPELLED_OUT,
        "r/.git/hooks": Seen.BLOCKED,
        "r/.git/info": Seen.BLOCKED,
    }
    assert mounts.unguarded == (str(top / "r" / ".npmrc"), str(top / "r" / ".cargo" / "config.toml"))
    monkeypatch.setenv("HOME", str(top / "r"))
    mounts = plan(top, top / "r", control=control)
    assert seen_below(top, mounts)["r/.npmrc"] == Seen.BLOCKED
    assert mounts.unguarded == (str(top / "r" / ".cargo" / "config.toml"),)


def test_a_file_where_a_directory_was_expected(top: Path) -> None:
    """As in a worktree of git, whose .git is a file."""
    (top / "r").mkdir()
    (top / "r" / ".git").write_text("gitdir: elsewhere")
    mounts = plan(top, top / "r", control=((".git/config", False), (".git/hooks", True)))
    assert seen_below(top, mounts) == {"r": Seen.WRITABLE, "r/.git": Seen.READ_ONLY}


def test_links_are_told_of_and_what_they_lead_to_is_protected(top: Path) -> None:
    (top / "r" / "real").mkdir(parents=True)
    (top / "outside").mkdir()
    (top / "r" / ".a").symlink_to("real")
    (top / "r" / ".b").symlink_to(top / "outside")
    (top / "r" / ".c").symlink_to("nowhere")
    mounts = plan(top, top / "r", control=((".a", True), (".b/x", False), (".c", False)))
    assert seen_below(top, mounts) == {"r": Seen.WRITABLE, "r/real": Seen.READ_ONLY}
    assert mounts.unguarded == tuple(str(top / "r" / name) for name in (".a", ".b/x", ".c"))


def test_roots_in_roots(top: Path) -> None:
    (top / "r" / "x" / "s").mkdir(parents=True)
    (top / "r" / "x" / "s" / ".a").mkdir()
    mounts = plan(top, top / "r", top / "r" / "x" / "s", control=((".a", True),), blocked=(".a",))
    assert seen_below(top, mounts) == {
        "r": Seen.WRITABLE,
        "r/.a": Seen.BLOCKED,
        "r/x": Seen.PINNED,
        "r/x/s": Seen.WRITABLE,
        "r/x/s/.a": Seen.READ_ONLY,
    }


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0]])
def test_a_root_in_what_is_read_only_or_hidden(top: Path, order: list[int]) -> None:
    roots = [top / "r", top / "r" / ".a" / "s" / "t", top / "hidden" / "r"]
    for root in roots:
        root.mkdir(parents=True)
    mounts = plan(top, *(roots[at] for at in order), control=((".a", True),), hidden=(top / "hidden",), blocked=(".a",))
    assert list(seen_below(top, mounts).items()) == [
        ("hidden", Seen.HIDDEN),
        ("hidden/r", Seen.WRITABLE),
        ("hidden/r/.a", Seen.BLOCKED),
        ("r", Seen.WRITABLE),
        ("r/.a", Seen.READ_ONLY),
        ("r/.a/s/t", Seen.WRITABLE),
        ("r/.a/s/t/.a", Seen.BLOCKED),
    ]


def test_what_is_hidden_inside_a_root(top: Path) -> None:
    (top / "r" / "secret").mkdir(parents=True)
    (top / "r" / "link").symlink_to("secret")
    mounts = plan(
        top,
        top / "r",
        control=(("secret", True), ("secret/x", True)),
        hidden=(top / "r" / "link", top / "r" / "secret" / "deeper", top / "none", top / "r"),
    )
    assert seen_below(top, mounts) == {"r": Seen.WRITABLE, "r/secret": Seen.HIDDEN}


def test_our_own_program_cannot_be_changed_from_a_root_and_can_be_seen_in_what_is_hidden(top: Path) -> None:
    for name in ("r/lib/python", "hidden/python", "elsewhere"):
        (top / name).mkdir(parents=True)
    own = tuple(str(top / name) for name in ("r/lib/python", "hidden/python", "elsewhere", "none"))
    mounts = Mounts(fence(top / "r", hidden=(top / "hidden",)), own_program=own)
    assert seen_below(top, mounts) == {
        "r": Seen.WRITABLE,
        "r/lib": Seen.PINNED,
        "r/lib/python": Seen.READ_ONLY,
        "hidden": Seen.HIDDEN,
        "hidden/python": Seen.READ_ONLY,
    }


def test_our_own_program_in_the_temporary_directory_can_be_seen(tmp_path: Path) -> None:
    if not str(tmp_path.resolve()).startswith("/tmp/"):
        pytest.skip("the temporary directory is elsewhere")
    mounts = Mounts(fence(), own_program=(str(tmp_path.resolve()), "/etc"))
    assert [(path, seen) for path, seen in mounts.in_order() if not path.startswith(("/run", "/var"))] == [
        ("/tmp", Seen.TEMPORARY),
        (str(tmp_path.resolve()), Seen.READ_ONLY),
    ]


def test_deeper_comes_later(top: Path) -> None:
    for name in ("a", "a-b", "a/b"):
        (top / name).mkdir()
    mounts = plan(top, top / "a-b", top / "a" / "b", top / "a")
    assert list(seen_below(top, mounts)) == ["a", "a/b", "a-b"]
    ordered = [path for path, _ in mounts.in_order()]
    assert "/tmp" in ordered
    for at, path in enumerate(ordered):
        assert not any(path.startswith(later + os.sep) for later in ordered[at + 1 :])
