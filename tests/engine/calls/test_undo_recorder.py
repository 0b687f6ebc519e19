"""Whatever a call does to files can be undone, whatever the files are, and nothing else is touched."""

import asyncio
import hashlib
import mmap
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.errors import UsageError
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult
from tejat.core.undo import ChangeKind, PathProblem, RestoreResult, RestoreScope, UndoEntry
from tejat.engine.calls.undo_recorder import UndoRecorder
from tejat.workspace.undo import digest_cache as digests

DONE = ToolResult("done")


class Project:
    """A root, a journal beside it, and the shell of an agent."""

    def __init__(self, base: Path, **limits: Any) -> None:
        self.root = base / "project"
        self.root.mkdir(exist_ok=True)
        self.journal = UndoRecorder(str(base / "state" / "undo"), [str(self.root)], **limits)
        self.state = Path(self.journal.directory)

    def __enter__(self) -> "Project":
        return self

    def __exit__(self, *_: object) -> None:
        self.journal.close()

    def shell(self, command: str) -> UndoEntry | None:
        """Run a command as a tool would and return the entry that came of it."""
        known = {entry.id for entry in self.journal.entries()}

        async def run() -> ToolResult:
            await asyncio.to_thread(subprocess.run, ["bash", "-c", command], cwd=self.root, check=False, stderr=-3)
            return DONE

        call = FunctionCall("run_shell_command", {"command": command})
        around = self.journal.record(call, Kind.EXECUTE, [], run, whole_tree=True)
        assert asyncio.run(around) == DONE
        return self._new(known)

    def tool(self, paths: Sequence[str], work: Callable[[], object]) -> UndoEntry | None:
        """Run something that says which files it changes."""
        known = {entry.id for entry in self.journal.entries()}

        async def run() -> ToolResult:
            work()
            return DONE

        call = FunctionCall("write_file", {"file_path": paths[0]})
        assert asyncio.run(self.journal.record(call, Kind.EDIT, paths, run, whole_tree=False)) == DONE
        return self._new(known)

    def _new(self, known: set[str]) -> UndoEntry | None:
        new = [entry for entry in self.journal.entries() if entry.id not in known]
        assert len(new) <= 1
        return new[0] if new else None


@pytest.fixture
def project(tmp_path: Path):
    with Project(tmp_path) as made:
        yield made


def seen(root: Path) -> dict[str, tuple[str, int, object]]:
    """Everything beneath a directory: kind, permissions, content or target."""
    found: dict[str, tuple[str, int, object]] = {}
    for where, directories, files in os.walk(root):
        for name in directories + files:
            path = os.path.join(where, name)
            status = os.lstat(path)
            mode = stat.S_IMODE(status.st_mode)
            relative = os.path.relpath(path, root)
            if stat.S_ISLNK(status.st_mode):
                found[relative] = ("link", 0, os.readlink(path))
            elif stat.S_ISDIR(status.st_mode):
                found[relative] = ("directory", mode, None)
            elif stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    found[relative] = ("file", mode, file.read())
            else:
                found[relative] = ("other", mode, None)
    return found


def digest_of_tree(root: Path) -> str:
    """One number for names, contents and times."""
    total = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        total.update(repr((str(path), status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino)).encode())
        if path.is_file() and not path.is_symlink():
            total.update(path.read_bytes())
    return total.hexdigest()


def verbs(entry: UndoEntry | None) -> dict[str, ChangeKind]:
    assert entry is not None
    return {change.path: change.kind for change in entry.changes}


def fill(root: Path) -> None:
    (root / "src" / "deep" / "er").mkdir(parents=True)
    (root / "src" / "main.py").write_text("print('hello')\n")
    (root / "src" / "deep" / "binary").write_bytes(bytes(range(256)) * 5)
    (root / "src" / "deep" / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    (root / "src" / "deep" / "er" / "empty").write_bytes(b"")
    (root / "nothing here").mkdir()
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "secret").write_text("s")
    (root / "secret").chmod(0o600)
    (root / "to main").symlink_to("src/main.py")
    (root / "dangling").symlink_to("nowhere/at all")
    (root / "outside").symlink_to("/etc")
    with open(os.fsencode(root) + b"/not \xff utf-8", "wb") as file:
        file.write(b"x")


COMMANDS = [
    "rm -rf src",
    "rm -rf * .[!.]*",
    "echo more >> src/main.py",
    "mv src elsewhere",
    "mv src/main.py src/deep/binary",
    "rm src/main.py && mkdir -p src/main.py/inner && echo x > src/main.py/inner/file",
    "rm -r src/deep && echo 'a file now' > src/deep",
    "rmdir 'nothing here'",
    "chmod 600 run.sh && chmod 755 secret && chmod 711 src/deep",
    "chmod 555 src/deep && chmod 444 src/main.py",
    "rm src/deep/binary && chmod 555 src/deep",
    "chmod u+w src/main.py && echo y > src/main.py && chmod 444 src/main.py",
    "mkdir -p made/in/side && touch made/in/side/file && chmod 555 made/in/side made",
    "ln -sf /etc/passwd 'to main'; rm dangling; ln -s x outside2",
    "rm 'to main' && echo real > 'to main'",
    "rm run.sh && ln -s src/main.py run.sh",
    "rm outside && mkdir outside && touch outside/mine",
    "cp -r src copy && ln src/main.py hard",
    "printf 'changed' > $'not \\xff utf-8'; touch $'also \\xfe'",
    "> src/deep/crlf.txt; > src/main.py; echo full > src/deep/er/empty",
    'for f in src/deep/*; do mv "$f" .; done',
    "echo x > one && ln one two && ln -f one secret",
    "cp secret twin && chmod 644 twin && ln -f twin secret",
    "ln -f src/main.py secret && chmod 777 secret && echo y >> secret",
    "mv run.sh t && mv secret run.sh && mv t secret",
    "mkdir a && mv a 'nothing here'/ && mv src 'nothing here'/a/",
]


class TestCommands:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_what_a_command_did_is_put_back(self, project: Project, command: str) -> None:
        fill(project.root)
        before = seen(project.root)
        entry = project.shell(command)
        after = seen(project.root)
        assert entry is not None
        assert after != before
        assert entry.skipped == ()
        result = project.journal.restore(entry.id)
        assert (result.refused, result.left_in_place) == ((), ())
        assert seen(project.root) == before
        assert sorted(result.restored) == sorted(change.full_path for change in entry.changes)
        assert result.entry_id is not None
        again = project.journal.restore(result.entry_id)
        assert again.refused == ()
        assert seen(project.root) == after
        assert project.journal.warnings == []

    def test_the_entry_says_what_happened(self, project: Project) -> None:
        fill(project.root)
        entry = project.shell("rm secret; echo 2 > two; echo 3 >> src/main.py; chmod 700 run.sh")
        assert verbs(entry) == {
            "run.sh": ChangeKind.PERMISSIONS,
            "secret": ChangeKind.REMOVED,
            "src/main.py": ChangeKind.CHANGED,
            "two": ChangeKind.CREATED,
        }
        assert entry is not None
        assert (entry.tool, entry.undoes, entry.undone_by) == ("run_shell_command", None, None)
        assert entry.summary == "rm secret; echo 2 > two; echo 3 >> src/main.py; chmod 700 run.sh"

    def test_directories_closed_by_mistake_are_opened_again(self, project: Project) -> None:
        fill(project.root)
        before = seen(project.root)
        entry = project.shell("chmod -R a-x src 'nothing here' 2> /dev/null")
        assert entry is not None
        assert project.journal.restore(entry.id).refused == ()
        assert seen(project.root) == before

    @pytest.mark.parametrize("command", ["true", "touch src/main.py", "cat src/main.py", "cp -a src/main.py t; rm t"])
    def test_no_change_is_no_entry(self, project: Project, command: str) -> None:
        fill(project.root)
        assert project.shell(command) is None
        assert project.shell(command) is None

    def test_a_change_that_no_time_tells_of_is_seen(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        """As two changes within one tick of the clock: only the content is different."""
        monkeypatch.setattr(digests, "_TICK", 10**15)
        path = project.root / "f"
        path.write_bytes(b"draft")
        with open(path, "r+b") as file, mmap.mmap(file.fileno(), 5) as content:
            content[:] = b"older"  # from now on the page is dirty, and writing to it changes no time
            unchanged = path.stat()
            entry = project.tool([str(path)], lambda: content.__setitem__(slice(0, 5), b"newer"))
            after = path.stat()
        assert (unchanged.st_mtime_ns, unchanged.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
        assert entry is not None
        assert project.journal.restore(entry.id).refused == ()
        assert path.read_bytes() == b"older"

    def test_a_failing_call_is_recorded(self, project: Project) -> None:
        async def run() -> ToolResult:
            (project.root / "half").write_text("x")
            raise RuntimeError("broken")

        with pytest.raises(RuntimeError):
            asyncio.run(project.journal.record(FunctionCall("x", {}), Kind.OTHER, [], run, whole_tree=True))
        assert [verbs(entry) for entry in project.journal.entries()] == [{"half": ChangeKind.CREATED}]

    def test_a_cancelled_call_is_recorded(self, project: Project) -> None:
        running = asyncio.Event()

        async def run() -> ToolResult:
            (project.root / "half").write_text("x")
            running.set()
            await asyncio.sleep(60)
            return DONE

        async def main() -> None:
            task = asyncio.ensure_future(
                project.journal.record(FunctionCall("x", {}), Kind.OTHER, [], run, whole_tree=True)
            )
            await running.wait()
            task.cancel()
            await asyncio.sleep(0)
            task.cancel()  # a second time, while it is being recorded
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        assert [verbs(entry) for entry in project.journal.entries()] == [{"half": ChangeKind.CREATED}]

    def test_what_only_reads_is_not_watched(self, project: Project) -> None:
        async def run() -> ToolResult:
            (project.root / "made").touch()
            return DONE

        asyncio.run(project.journal.record(FunctionCall("x", {}), Kind.READ, [], run, whole_tree=True))
        assert project.journal.entries() == []
        assert not project.state.exists()


class TestTools:
    def test_new_file_in_new_directories(self, project: Project) -> None:
        path = project.root / "a" / "b" / "c.txt"

        def write() -> None:
            path.parent.mkdir(parents=True)
            path.write_text("new")

        entry = project.tool([str(path)], write)
        assert verbs(entry) == {"a": ChangeKind.CREATED, "a/b": ChangeKind.CREATED, "a/b/c.txt": ChangeKind.CREATED}
        assert entry is not None
        project.journal.restore(entry.id)
        assert seen(project.root) == {}

    def test_only_the_named_file_counts(self, project: Project) -> None:
        fill(project.root)

        def write() -> None:
            (project.root / "secret").write_text("changed")
            (project.root / "run.sh").write_text("somebody else")

        entry = project.tool(["secret"], write)
        assert verbs(entry) == {"secret": ChangeKind.CHANGED}

    def test_through_a_link_the_file_itself_is_kept(self, project: Project) -> None:
        fill(project.root)
        entry = project.tool(["to main"], lambda: (project.root / "src" / "main.py").write_text("x"))
        assert verbs(entry) == {"src/main.py": ChangeKind.CHANGED}

    def test_a_file_outside_the_roots(self, project: Project, tmp_path: Path) -> None:
        memory = tmp_path / "home" / "memory.md"
        memory.parent.mkdir()
        memory.write_text("old\n")
        entry = project.tool([str(memory)], lambda: memory.write_text("old\nnew\n"))
        assert entry is not None
        assert [change.full_path for change in entry.changes] == [str(memory)]
        assert project.journal.restore(entry.id).refused == ()
        assert memory.read_text() == "old\n"


class TestGuards:
    """What the user did after the call is never lost."""

    def test_an_edit_since_is_refused_and_nothing_is_done(self, project: Project) -> None:
        fill(project.root)
        entry = project.shell("echo a > secret; echo b > run.sh; rm -r src")
        assert entry is not None
        (project.root / "secret").write_text("mine")
        before = seen(project.root)
        result = project.journal.restore(entry.id)
        assert result == RestoreResult(refused=(PathProblem(str(project.root / "secret"), "changed since then"),))
        assert project.journal.preview(entry.id).refused == result.refused
        assert seen(project.root) == before

    def test_a_part_can_be_asked_for(self, project: Project) -> None:
        fill(project.root)
        old = seen(project.root)
        entry = project.shell("echo a > secret; echo b > run.sh; rm -r src")
        assert entry is not None
        (project.root / "secret").write_text("mine")
        result = project.journal.restore(entry.id, RestoreScope(partial=True))
        assert result.refused == (PathProblem(str(project.root / "secret"), "changed since then"),)
        assert seen(project.root) == {**old, "secret": ("file", 0o600, b"mine")}
        assert [other.undone_by for other in project.journal.entries()] == [None, None]

    @pytest.mark.parametrize(
        ("command", "since", "why"),
        [
            ("echo a > new", "echo mine > new", "changed since then"),
            ("echo a > new", "rm new; ln -s q new", "now a link"),
            ("echo a > new", "chmod 700 new", "permissions changed since then"),
            ("echo a > secret", "rm secret", "removed since then"),
            ("rm secret", "echo mine > secret", "replaced by something else"),
            ("rm secret", "mkfifo secret", "now a pipe, socket or device"),
            ("ln -sfn b dangling", "ln -sfn mine dangling", "changed since then"),
            ("chmod 700 src", "chmod 770 src", "permissions changed since then"),
            ("rm -r src", "mkdir src; chmod 701 src", "replaced by something else"),
        ],
    )
    def test_refusals(self, project: Project, command: str, since: str, why: str) -> None:
        fill(project.root)
        entry = project.shell(command)
        assert entry is not None
        subprocess.run(["bash", "-c", since], cwd=project.root, check=True)
        before = seen(project.root)
        assert why in [remark.reason for remark in project.journal.restore(entry.id).refused]
        assert seen(project.root) == before

    def test_what_was_put_into_a_new_directory_stays(self, project: Project) -> None:
        entry = project.shell("mkdir -p made/in; echo x > made/in/its")
        assert entry is not None
        (project.root / "made" / "mine").write_text("mine")
        result = project.journal.restore(entry.id)
        assert result.left_in_place == (
            PathProblem(str(project.root / "made"), "kept, because it contains other files"),
        )
        assert sorted(seen(project.root)) == ["made", "made/mine"]

    def test_a_later_call_is_named(self, project: Project) -> None:
        first, second = project.shell("echo 1 > f"), project.shell("echo 2 > f")
        assert first is not None
        assert second is not None
        refused = project.journal.restore(first.id).refused
        assert refused == (
            PathProblem(str(project.root / "f"), f"changed since then (by {second.id}; undo that first)"),
        )
        assert project.journal.restore(second.id).refused == ()
        assert project.journal.restore(first.id).refused == ()
        assert seen(project.root) == {}
        undone = {entry.id: entry.undone_by is not None for entry in project.journal.entries()}
        assert undone[first.id]
        assert undone[second.id]

    def test_a_directory_swapped_for_a_link_is_not_followed(self, project: Project, tmp_path: Path) -> None:
        fill(project.root)
        elsewhere = tmp_path / "elsewhere"
        entry = project.shell("echo changed > src/main.py; rm src/deep/binary")
        assert entry is not None
        (project.root / "src").rename(elsewhere)
        (project.root / "src").symlink_to(elsewhere)
        before = seen(elsewhere)
        result = project.journal.restore(entry.id, RestoreScope(partial=True))
        assert result.restored == ()
        assert len(result.refused) == 2
        assert seen(elsewhere) == before

    def test_restoring_twice_does_nothing_more(self, project: Project) -> None:
        fill(project.root)
        entry = project.shell("rm -rf src")
        assert entry is not None
        project.journal.restore(entry.id)
        before = digest_of_tree(project.root)
        assert project.journal.restore(entry.id) == RestoreResult()
        assert digest_of_tree(project.root) == before

    def test_unknown_entry(self, project: Project) -> None:
        for use in (project.journal.show, project.journal.preview, project.journal.restore):
            with pytest.raises(UsageError, match="no entry 'nope'"):
                use("nope")

    def test_each_project_has_its_own(self, project: Project, tmp_path: Path) -> None:
        assert project.shell("echo 1 > f") is not None
        (tmp_path / "other").mkdir()
        other = UndoRecorder(str(tmp_path / "state" / "undo"), [str(tmp_path / "other"), str(project.root)])
        again = UndoRecorder(str(tmp_path / "state" / "undo"), [str(project.root), str(tmp_path / "other")])
        assert (other.entries(), again.entries()) == ([], project.journal.entries())
        other.close()
        again.close()

    def test_looking_makes_nothing(self, project: Project) -> None:
        assert project.journal.entries() == []
        assert not project.state.exists()


def git(root: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=root, check=True, capture_output=True
    )


class TestGit:
    def test_the_repository_is_never_touched(self, project: Project) -> None:
        fill(project.root)
        git(project.root, "init", "-q")
        git(project.root, "add", "src")
        git(project.root, "commit", "-qm", "x")
        (project.root / "src" / "main.py").write_text("staged\n")
        git(project.root, "add", "src")
        (project.root / "src" / "main.py").write_text("dirty\n")
        (project.root / ".gitignore").write_text("*.env\nbuild/\n")
        (project.root / "key.env").write_text("ignored but precious")
        before, repository = seen(project.root), digest_of_tree(project.root / ".git")
        entry = project.shell("rm -rf src key.env secret .gitignore; mkdir build; echo o > build/out")
        assert entry is not None
        assert digest_of_tree(project.root / ".git") == repository
        assert project.journal.restore(entry.id).refused == ()
        assert digest_of_tree(project.root / ".git") == repository
        shutil.rmtree(project.root / "build")
        assert seen(project.root) == before

    def test_unwatched_directories_are_named_when_they_come_and_go(self, project: Project) -> None:
        (project.root / "node_modules" / "a").mkdir(parents=True)
        (project.root / "node_modules" / "a" / "f").touch()
        entry = project.shell("rm -rf node_modules; git init -q . ; echo x > y")
        assert entry is not None
        assert verbs(entry) == {"y": ChangeKind.CREATED}
        assert entry.skipped == (
            PathProblem(str(project.root / ".git"), "appeared, and what is in there is not watched"),
            PathProblem(str(project.root / "node_modules"), "went away, and what is in there is not watched"),
        )

    def test_what_was_moved_out_of_sight_and_back_is_not_taken_for_new(self, project: Project) -> None:
        (project.root / "node_modules" / "a").mkdir(parents=True)
        (project.root / "node_modules" / "a" / "precious").write_text("x")
        entry = project.shell("mv node_modules vendor; echo 1 > new")
        assert entry is not None
        assert verbs(entry) == {"new": ChangeKind.CREATED}
        project.journal.restore(entry.id)
        assert (project.root / "vendor" / "a" / "precious").read_text() == "x"

    def test_rules_that_change_do_not_make_old_files_new(self, project: Project) -> None:
        git(project.root, "init", "-q")
        (project.root / ".gitignore").write_text("build/\n")
        (project.root / "build").mkdir()
        (project.root / "build" / "precious").write_text("x")
        entry = project.shell("echo > .gitignore")
        assert entry is not None
        assert verbs(entry) == {".gitignore": ChangeKind.CHANGED}
        entry = project.shell("echo build/ > .gitignore")
        assert entry is not None
        assert project.journal.restore(entry.id).refused == ()
        assert (project.root / "build" / "precious").read_text() == "x"


class TestLimits:
    def test_a_large_file_is_not_kept_and_that_is_said(self, tmp_path: Path) -> None:
        with Project(tmp_path, file_limit=1000) as project:
            (project.root / "big").write_bytes(b"b" * 2_000_000)
            (project.root / "small").write_bytes(b"s" * 1000)
            entry = project.shell("rm big small")
            assert entry is not None
            assert verbs(entry) == {"small": ChangeKind.REMOVED}
            why = "removed, and the old content is gone: too large to be kept (2.0 MB)"
            assert entry.skipped == (PathProblem(str(project.root / "big"), why),)
            assert project.journal.restore(entry.id).refused == ()
            assert seen(project.root) == {"small": ("file", 0o644, b"s" * 1000)}

    def test_a_large_file_that_was_moved_is_moved_back(self, tmp_path: Path) -> None:
        with Project(tmp_path, file_limit=1000) as project:
            (project.root / "in").mkdir()
            (project.root / "in" / "big").write_bytes(b"b" * 5000)
            before = seen(project.root)
            entry = project.shell("mkdir -p other/place; mv in/big other/place/large; rmdir in")
            assert entry is not None
            assert entry.skipped == ()
            result = project.journal.restore(entry.id)
            assert (result.refused, result.left_in_place) == ((), ())
            assert seen(project.root) == before
            assert result.entry_id is not None
            assert project.journal.restore(result.entry_id).refused == ()
            assert list(seen(project.root)) == ["other", "other/place", "other/place/large"]

    def test_permissions_of_a_large_file(self, tmp_path: Path) -> None:
        with Project(tmp_path, file_limit=1000) as project:
            (project.root / "big").write_bytes(b"b" * 5000)
            before = seen(project.root)
            entry = project.shell("chmod 000 big")
            assert verbs(entry) == {"big": ChangeKind.PERMISSIONS}
            assert entry is not None
            assert project.journal.restore(entry.id).refused == ()
            assert seen(project.root) == before

    def test_a_large_new_file_goes_if_the_call_wrote_it_and_stays_if_it_came_from_elsewhere(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "only copy").write_bytes(b"o" * 5000)
        os.utime(tmp_path / "only copy", (1, 1))
        with Project(tmp_path, file_limit=1000) as project:
            entry = project.shell("head -c 5000 /dev/zero > written; mv '../only copy' came")
            assert entry is not None
            assert verbs(entry) == {"written": ChangeKind.CREATED}
            why = "created, and undo would lose it: too large to be kept (5.0 kB)"
            assert entry.skipped == (PathProblem(str(project.root / "came"), why),)
            project.journal.restore(entry.id)
            assert list(seen(project.root)) == ["came"]

    def test_the_oldest_make_room_for_the_newest(self, tmp_path: Path) -> None:
        with Project(tmp_path, limit=1_000_000, file_limit=500_000) as project:
            entries = [project.shell(f"head -c 100000 /dev/urandom > f; echo {number}") for number in range(30)]
            assert sum(path.stat().st_size for path in project.state.iterdir()) <= 1_000_000
            kept = project.journal.entries()
            assert 3 <= len(kept) < 30
            assert kept[0] == entries[-1]
            assert any("can no longer be undone" in line for line in project.journal.warnings)
            for entry in kept:
                assert project.journal.restore(entry.id).refused == ()
            assert project.journal.entries()[0].undoes == kept[-1].id

    def test_small_files_come_first_when_there_is_no_room_for_all(self, tmp_path: Path) -> None:
        with Project(tmp_path, limit=1_000_000, file_limit=900_000) as project:
            for number in range(4):
                (project.root / f"large{number}").write_bytes(os.urandom(400_000))
            for number in range(50):
                (project.root / f"small{number}").write_bytes(os.urandom(1000))
            entry = project.shell("rm *")
            assert entry is not None
            removed = verbs(entry)
            assert {f"small{number}" for number in range(50)} <= removed.keys()
            assert len(removed) + len(entry.skipped) == 54
            assert 1 <= len(entry.skipped) <= 3
            assert all("the room for undo is used up (400.0 kB)" in remark.reason for remark in entry.skipped)
            assert project.journal.restore(entry.id).refused == ()
            assert seen(project.root).keys() == removed.keys()

    def test_everything_is_private_whatever_the_umask(self, tmp_path: Path) -> None:
        for umask in (0, 0o277):
            (tmp_path / str(umask)).mkdir()
            (tmp_path / str(umask) / "project").mkdir()
            old = os.umask(umask)
            try:
                with Project(tmp_path / str(umask)) as project:
                    assert project.shell("echo x > f") is not None
                    assert project.journal.restore(project.journal.entries()[0].id).refused == ()
            finally:
                os.umask(old)
            modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / str(umask) / "state").rglob("*")}
            assert (modes.pop(project.state), modes.pop(project.state.parent)) == (0o700, 0o700)
            assert set(modes.values()) == {0o600}
            assert stat.S_IMODE((tmp_path / str(umask) / "state").stat().st_mode) == 0o700


class TestManyFiles:
    def test_twenty_thousand(self, project: Project) -> None:
        for directory in range(200):
            place = project.root / f"d{directory % 10}" / f"e{directory}"
            place.mkdir(parents=True)
            for number in range(100):
                with open(f"{place}/f{number}", "w") as file:
                    file.write(f"{directory} {number}")
        started = time.process_time()
        assert project.shell("true") is None
        first = time.process_time()
        assert project.shell("true") is None
        assert time.process_time() - first < (first - started) / 2
        entry = project.shell("rm -rf d1")
        assert entry is not None
        assert len(entry.changes) == 1 + 20 + 2000
        result = project.journal.restore(entry.id)
        assert (len(result.restored), result.refused) == (2021, ())
        assert (project.root / "d1" / "e191" / "f99").read_text() == "191 99"


class TestShow:
    def test_patches_and_lines(self, project: Project) -> None:
        fill(project.root)
        entry = project.shell("echo more >> src/main.py; rm src/deep/binary dangling; chmod 700 run.sh; mkdir d")
        assert entry is not None
        root = project.root
        assert project.journal.show(entry.id) == [
            f"{root}/d: created (directory)\n",
            f"{root}/dangling: removed (link to nowhere/at all)\n",
            f"{root}/run.sh: permissions changed from 0755 to 0700\n",
            f"{root}/src/deep/binary: removed (file of 1.3 kB)\n",
            (
                f"Index: {root}/src/main.py\n{'=' * 67}\n"
                f"--- {root}/src/main.py\tBefore\n+++ {root}/src/main.py\tAfter\n"
                "@@ -1,1 +1,2 @@\n print('hello')\n+more\n"
            ),
        ]


NAMES = st.sampled_from(["a", "b", "c", "d e", "f\udcff"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


def quoted(path: str) -> str:
    return shlex.quote(path)


ONE = [
    "rm -rf {}",
    "mkdir -p {}",
    "chmod 500 {}",
    "chmod u=rwX,g=rX,o= {}",
    "rmdir {}",
    "echo new > {}",
    "echo more >> {}",
    "> {}",
]
TWO = ["mv {} {}", "cp -r {} {}", "ln -s {} {}", "ln {} {}", "mv -T {} {}", "cp -a {} {}"]
STEPS = st.one_of(
    st.tuples(st.sampled_from(ONE), PATHS).map(lambda step: step[0].format(quoted(step[1]))),
    st.tuples(st.sampled_from(TWO), PATHS, PATHS).map(lambda step: step[0].format(quoted(step[1]), quoted(step[2]))),
)
SCRIPTS = st.lists(STEPS, min_size=1, max_size=8).map("; ".join)


class TestAnything:
    @settings(max_examples=20, deadline=None)
    @given(made=st.lists(STEPS, max_size=10).map("; ".join), first=SCRIPTS, second=SCRIPTS)
    def test_any_tree_and_any_commands(self, made: str, first: str, second: str) -> None:
        with tempfile.TemporaryDirectory() as base, Project(Path(base)) as project:
            try:
                subprocess.run(["bash", "-c", os.fsencode(made)], cwd=project.root, check=False, stderr=-3)
                states = [seen(project.root)]
                entries: list[UndoEntry] = []
                for script in (first, second):
                    entry = project.shell(os.fsdecode(os.fsencode(script)))
                    if entry is not None:
                        assert all("a hard link" in remark.reason for remark in entry.skipped)
                        entries.append(entry)
                        states.append(seen(project.root))
                    else:
                        assert seen(project.root) == states[-1]
                for entry in reversed(entries):
                    assert seen(project.root) == states.pop()
                    result = project.journal.restore(entry.id)
                    assert (result.refused, result.left_in_place) == ((), ())
                    assert seen(project.root) == states[-1]
                assert project.journal.warnings == []
            finally:
                subprocess.run(["chmod", "-R", "u+rwx", base], check=False)


def test_content_that_was_on_no_disk(project: Project) -> None:
    """An editor had unsaved changes in one file and had never saved another."""
    old, new = project.root / "old", project.root / "new"
    old.write_text("saved")
    replaced: dict[str, bytes] = {}

    async def run() -> ToolResult:
        for path in (old, new):
            replaced[str(path)] = f"unsaved {path.name}".encode()
            path.write_text("edited")
        return DONE

    call, paths = FunctionCall("write_file", {"file_path": "old"}), [str(old), str(new)]
    asyncio.run(project.journal.record(call, Kind.EDIT, paths, run, whole_tree=False, replaced=replaced))
    (entry,) = project.journal.entries()
    assert "-unsaved old" in project.journal.show(entry.id)[1]
    undone = project.journal.restore(entry.id)
    assert undone.is_complete
    assert (old.read_text(), new.read_text()) == ("unsaved old", "unsaved new")
    assert undone.entry_id is not None
    project.journal.restore(undone.entry_id)
    assert (old.read_text(), new.read_text()) == ("edited", "edited")
