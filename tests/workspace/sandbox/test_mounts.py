"""What is seen where. The files are real; nothing is mounted here."""

import os
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from tejat.core.frozen import replace
from tejat.workspace.control_paths.search import FoundControlPaths
from tejat.workspace.sandbox.mounts import MAX_NESTED_MOUNTS, MountKind, MountPlan
from tejat.workspace.sandbox.types import SandboxMount, SandboxPolicy


@pytest.fixture
def top() -> Generator[Path]:
    """Not below /tmp, which commands see another one of."""
    with tempfile.TemporaryDirectory(prefix="mounts-", dir="/var/tmp") as directory:
        yield Path(directory).resolve()


def policy(
    *roots: Path,
    control: tuple[tuple[str, bool], ...] = (),
    hidden: tuple[Path, ...] = (),
    blocked: tuple[str, ...] = (),
) -> SandboxPolicy:
    return SandboxPolicy(
        tuple(map(str, roots)), "/none", control, tuple(map(str, hidden)), network=False, blocked_paths=blocked
    )


def seen_below(top: Path, mounts: MountPlan) -> dict[str, MountKind]:
    return {path.removeprefix(f"{top}/"): seen for path, seen in mounts.ordered() if path.startswith(f"{top}/")}


def plan(
    top: Path,
    *roots: Path,
    control: tuple[tuple[str, bool], ...] = (),
    hidden: tuple[Path, ...] = (),
    blocked: tuple[str, ...] = (),
) -> MountPlan:
    assert all(root.is_relative_to(top) for root in roots)
    return MountPlan(policy(*roots, control=control, hidden=hidden, blocked=blocked), helper_paths=())


def test_a_control_file_is_read_only_and_all_above_it_is_pinned(top: Path) -> None:
    (top / "r" / "a" / "b").mkdir(parents=True)
    (top / "r" / "a" / "b" / "c").write_text("x")
    mounts = plan(top, top / "r", control=(("a/b/c", False),))
    assert list(seen_below(top, mounts).items()) == [
        ("r", MountKind.WRITABLE),
        ("r/a", MountKind.PINNED),
        ("r/a/b", MountKind.PINNED),
        ("r/a/b/c", MountKind.READ_ONLY),
    ]
    assert mounts.unprotected_paths == ()


def test_of_what_is_missing_only_what_must_not_come_into_being_is_blocked(top: Path) -> None:
    (top / "r" / "there").mkdir(parents=True)
    control = ((".agent", True), ("there/d", True), ("there/e", True), ("a/b", True), (".git/config", False))
    mounts = plan(top, top / "r", control=control, blocked=(".agent", "there/d"))
    assert seen_below(top, mounts) == {
        "r": MountKind.WRITABLE,
        "r/.agent": MountKind.BLOCKED,
        "r/there": MountKind.PINNED,
        "r/there/d": MountKind.BLOCKED,
    }
    assert mounts.unprotected_paths == tuple(str(top / "r" / name) for name in ("there/e", "a", ".git"))


def test_of_a_long_path_the_first_missing_part_is_blocked(top: Path) -> None:
    (top / "r").mkdir()
    assert seen_below(top, plan(top, top / "r", control=(("a/b", True), ("a/c", False)), blocked=("a",))) == {
        "r": MountKind.WRITABLE,
        "r/a": MountKind.BLOCKED,
    }


def test_what_stands_in_for_something_missing_is_still_missing(top: Path) -> None:
    for name in ("r/.agent", "r/.git/hooks"):
        (top / name).mkdir(parents=True)
    (top / "r" / ".git" / "commondir").write_text(".\n")
    control = ((".agent", True), (".git/hooks", True), (".git/commondir", False))
    placeholders = {str(top / "r" / name) for name, _ in control}
    mounts = MountPlan(
        policy(top / "r", control=control, blocked=(".agent",)), helper_paths=(), placeholders=placeholders
    )
    assert seen_below(top, mounts) == {
        "r": MountKind.WRITABLE,
        "r/.agent": MountKind.BLOCKED,
        "r/.git": MountKind.PINNED,
        "r/.git/hooks": MountKind.BLOCKED,
        "r/.git/commondir": MountKind.NEUTRAL_FILE,
    }


def test_what_is_there_is_read_only_whether_it_is_to_be_blocked_or_not(top: Path) -> None:
    for name in ("r/.agent", "r/.editor"):
        (top / name).mkdir(parents=True)
    control = ((".agent", True), (".editor", True))
    assert seen_below(top, plan(top, top / "r", control=control, blocked=(".agent",))) == {
        "r": MountKind.WRITABLE,
        "r/.agent": MountKind.READ_ONLY,
        "r/.editor": MountKind.READ_ONLY,
    }


def test_files_that_are_missing(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (top / "r" / ".git").mkdir(parents=True)
    (top / "r" / ".cargo").mkdir()
    control = ((".npmrc", False), (".git/config", False), (".git/commondir", False), (".cargo/config.toml", False))
    control += ((".git/hooks", True), (".git/info/attributes", False))
    mounts = plan(top, top / "r", control=control)
    assert seen_below(top, mounts) == {
        "r": MountKind.WRITABLE,
        "r/.git": MountKind.PINNED,
        "r/.git/config": MountKind.BLOCKED,
        "r/.git/commondir": MountKind.NEUTRAL_FILE,
        "r/.git/hooks": MountKind.BLOCKED,
        "r/.git/info": MountKind.BLOCKED,
    }
    assert mounts.unprotected_paths == (str(top / "r" / ".npmrc"), str(top / "r" / ".cargo" / "config.toml"))
    monkeypatch.setenv("HOME", str(top / "r"))
    mounts = plan(top, top / "r", control=control)
    assert seen_below(top, mounts)["r/.npmrc"] == MountKind.BLOCKED
    assert mounts.unprotected_paths == (str(top / "r" / ".cargo" / "config.toml"),)


def test_a_file_where_a_directory_was_expected(top: Path) -> None:
    """As in a worktree of git, whose .git is a file."""
    (top / "r").mkdir()
    (top / "r" / ".git").write_text("gitdir: elsewhere")
    mounts = plan(top, top / "r", control=((".git/config", False), (".git/hooks", True)))
    assert seen_below(top, mounts) == {"r": MountKind.WRITABLE, "r/.git": MountKind.READ_ONLY}


def test_links_are_told_of_and_what_they_lead_to_is_protected(top: Path) -> None:
    (top / "r" / "real").mkdir(parents=True)
    (top / "outside").mkdir()
    (top / "r" / ".a").symlink_to("real")
    (top / "r" / ".b").symlink_to(top / "outside")
    (top / "r" / ".c").symlink_to("nowhere")
    mounts = plan(top, top / "r", control=((".a", True), (".b/x", False), (".c", False)))
    assert seen_below(top, mounts) == {"r": MountKind.WRITABLE, "r/real": MountKind.READ_ONLY}
    assert mounts.unprotected_paths == tuple(str(top / "r" / name) for name in (".a", ".b/x", ".c"))


def test_roots_in_roots(top: Path) -> None:
    (top / "r" / "x" / "s").mkdir(parents=True)
    (top / "r" / "x" / "s" / ".a").mkdir()
    mounts = plan(top, top / "r", top / "r" / "x" / "s", control=((".a", True),), blocked=(".a",))
    assert seen_below(top, mounts) == {
        "r": MountKind.WRITABLE,
        "r/.a": MountKind.BLOCKED,
        "r/x": MountKind.PINNED,
        "r/x/s": MountKind.WRITABLE,
        "r/x/s/.a": MountKind.READ_ONLY,
    }


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0]])
def test_a_root_in_what_is_read_only_or_hidden(top: Path, order: list[int]) -> None:
    roots = [top / "r", top / "r" / ".a" / "s" / "t", top / "hidden" / "r"]
    for root in roots:
        root.mkdir(parents=True)
    mounts = plan(top, *(roots[at] for at in order), control=((".a", True),), hidden=(top / "hidden",), blocked=(".a",))
    assert list(seen_below(top, mounts).items()) == [
        ("hidden", MountKind.HIDDEN),
        ("hidden/r", MountKind.WRITABLE),
        ("hidden/r/.a", MountKind.BLOCKED),
        ("r", MountKind.WRITABLE),
        ("r/.a", MountKind.READ_ONLY),
        ("r/.a/s/t", MountKind.WRITABLE),
        ("r/.a/s/t/.a", MountKind.BLOCKED),
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
    assert seen_below(top, mounts) == {"r": MountKind.WRITABLE, "r/secret": MountKind.HIDDEN}


def test_our_own_program_cannot_be_changed_from_a_root_and_can_be_seen_in_what_is_hidden(top: Path) -> None:
    for name in ("r/lib/python", "hidden/python", "elsewhere"):
        (top / name).mkdir(parents=True)
    own = tuple(str(top / name) for name in ("r/lib/python", "hidden/python", "elsewhere", "none"))
    mounts = MountPlan(policy(top / "r", hidden=(top / "hidden",)), helper_paths=own)
    assert seen_below(top, mounts) == {
        "r": MountKind.WRITABLE,
        "r/lib": MountKind.PINNED,
        "r/lib/python": MountKind.READ_ONLY,
        "hidden": MountKind.HIDDEN,
        "hidden/python": MountKind.READ_ONLY,
    }


def test_our_own_program_in_the_temporary_directory_can_be_seen(tmp_path: Path) -> None:
    if not str(tmp_path.resolve()).startswith("/tmp/"):
        pytest.skip("the temporary directory is elsewhere")
    mounts = MountPlan(policy(), helper_paths=(str(tmp_path.resolve()), "/etc"))
    assert [(path, seen) for path, seen in mounts.ordered() if not path.startswith(("/run", "/var"))] == [
        ("/tmp", MountKind.TEMPORARY),
        (str(tmp_path.resolve()), MountKind.READ_ONLY),
    ]


def test_deeper_comes_later(top: Path) -> None:
    for name in ("a", "a-b", "a/b"):
        (top / name).mkdir()
    mounts = plan(top, top / "a-b", top / "a" / "b", top / "a")
    assert list(seen_below(top, mounts)) == ["a", "a/b", "a-b"]
    ordered = [path for path, _ in mounts.ordered()]
    assert "/tmp" in ordered
    for at, path in enumerate(ordered):
        assert not any(path.startswith(later + os.sep) for later in ordered[at + 1 :])


class TestNested:
    """Control paths below the top of a root."""

    CONTROL = (
        *((f".git/{name}", False) for name in ("config", "commondir", "info/attributes")),
        *((f".git/{name}", True) for name in ("hooks", "modules")),
    )

    def plan(self, root: Path, *, repositories: Sequence[str] = (), paths: Sequence[str] = ()) -> MountPlan:
        found = FoundControlPaths(
            tuple(str(root / name) for name in repositories), tuple(str(root / name) for name in paths)
        )
        return MountPlan(replace(policy(root, control=self.CONTROL), found=found), helper_paths=())

    def test_a_repository(self, top: Path) -> None:
        for name in ("r/.git/hooks", "r/a/b/.git/modules"):
            (top / name).mkdir(parents=True)
        (top / "r" / "a" / "b" / ".git" / "config").touch()
        mounts = self.plan(top / "r", repositories=[".git", "a/b/.git"])
        kinds = seen_below(top, mounts)
        assert {path: kind for path, kind in kinds.items() if path.startswith("r/a")} == {
            "r/a": MountKind.PINNED,
            "r/a/b": MountKind.PINNED,
            "r/a/b/.git": MountKind.PINNED,
            "r/a/b/.git/config": MountKind.READ_ONLY,
            "r/a/b/.git/commondir": MountKind.NEUTRAL_FILE,
            "r/a/b/.git/hooks": MountKind.BLOCKED,
            "r/a/b/.git/modules": MountKind.READ_ONLY,
        }
        assert mounts.unprotected_paths == (str(top / "r/a/b/.git/info/attributes"),)

    def test_files_directories_and_links(self, top: Path) -> None:
        (top / "r" / "a" / ".vscode").mkdir(parents=True)
        (top / "r" / "b").mkdir()
        (top / "r" / "b" / ".git").write_text("gitdir: x")
        (top / "r" / "b" / ".vscode").symlink_to("../real")
        (top / "r" / "b" / ".idea").symlink_to("/etc")
        (top / "r" / "real").mkdir()
        mounts = self.plan(top / "r", paths=["a/.vscode", "b/.git", "b/.vscode", "b/.idea"])
        assert seen_below(top, mounts) == {
            "r": MountKind.WRITABLE,
            "r/a": MountKind.PINNED,
            "r/a/.vscode": MountKind.READ_ONLY,
            "r/b": MountKind.PINNED,
            "r/b/.git": MountKind.READ_ONLY,
            "r/real": MountKind.READ_ONLY,
        }
        assert {str(top / "r/b/.vscode"), str(top / "r/b/.idea")} <= set(mounts.unprotected_paths)

    def test_what_takes_too_many_mounts_is_told_of(self, top: Path) -> None:
        names = [f"{number:03}" for number in range(MAX_NESTED_MOUNTS)]
        for name in names:
            (top / "r" / name / ".vscode").mkdir(parents=True)
        mounts = self.plan(top / "r", paths=[f"{name}/.vscode" for name in names])
        kinds = seen_below(top, mounts)
        protected = [name for name in names if f"r/{name}/.vscode" in kinds]
        assert protected == names[: MAX_NESTED_MOUNTS // 2]
        assert len(kinds) == 1 + MAX_NESTED_MOUNTS
        assert [path for path in mounts.unprotected_paths if path.endswith(".vscode")] == [
            str(top / "r" / name / ".vscode") for name in names[MAX_NESTED_MOUNTS // 2 :]
        ]


class TestShownPlaces:
    def kinds(self, top: Path, *mounts: SandboxMount) -> dict[str, MountKind]:
        for name in ("r/in", "secret/part", "data/secret"):
            (top / name).mkdir(parents=True)
        hidden = (top / "secret", top / "data" / "secret")
        return seen_below(top, MountPlan(replace(policy(top / "r", hidden=hidden), mounts=mounts), helper_paths=()))

    def test_part_of_a_hidden_place(self, top: Path) -> None:
        shown = SandboxMount(f"{top}/secret/part", f"{top}/secret/part")
        assert self.kinds(top, shown) == {
            "r": MountKind.WRITABLE,
            "secret": MountKind.HIDDEN,
            "secret/part": MountKind.READ_ONLY,
            "data/secret": MountKind.HIDDEN,
        }

    def test_what_is_hidden_in_a_shown_place_stays_hidden(self, top: Path) -> None:
        data = SandboxMount(f"{top}/data", f"{top}/data")
        assert self.kinds(top, data)["data/secret"] is MountKind.HIDDEN

    def test_a_writable_one(self, top: Path) -> None:
        found = self.kinds(top, SandboxMount(f"{top}/data", f"{top}/data", is_writable=True))
        assert (found["data"], found["data/secret"]) == (MountKind.WRITABLE, MountKind.HIDDEN)

    def test_one_in_a_root_stays_writable(self, top: Path) -> None:
        assert "r/in" not in self.kinds(top, SandboxMount(f"{top}/r/in", f"{top}/r/in"))

    def test_secrets_in_what_is_shown_of_the_temporary_directory(self, tmp_path: Path) -> None:
        home = tmp_path.resolve()
        if not str(home).startswith("/tmp/"):
            pytest.skip("the temporary directory is elsewhere")
        (home / "secret").mkdir()
        shown = replace(policy(hidden=(home / "secret",)), mounts=(SandboxMount(str(home), str(home)),))
        kinds = dict(MountPlan(shown, helper_paths=()).ordered())
        assert kinds[str(home)] is MountKind.READ_ONLY
        assert kinds[str(home / "secret")] is MountKind.HIDDEN
