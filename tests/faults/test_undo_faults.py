"""The undo journal outlives kills, full disks, damage and company: nothing is half-written, and the next run works."""

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tejat.core.undo import ChangeKind, RestoreScope
from tejat.engine.calls.undo_recorder import UndoRecorder

WORKER = """
import asyncio, json, os, subprocess, sys
from contextlib import suppress
from tejat.core.tools.base import Kind, ToolResult
from tejat.core.messages.types import FunctionCall
from tejat.core.undo import UndoUnavailable
from tejat.engine.calls.undo_recorder import UndoRecorder

refusals = []
state, root, action, *rest = sys.argv[1:]
journal = UndoRecorder(state, [root])

def shell(command):
    async def run():
        print("running", flush=True)
        await asyncio.to_thread(subprocess.run, ["bash", "-c", command], cwd=root)
        return ToolResult("")
    call = FunctionCall("run_shell_command", {"command": command})
    try:
        return asyncio.run(journal.record(call, Kind.EXECUTE, [], run, whole_tree=True))
    except UndoUnavailable as refusal:
        refusals.append(str(refusal))

def write(path):
    async def run():
        print("running", flush=True)
        with open(os.path.join(root, path), "w") as file:
            file.write("new")
        return ToolResult("")
    try:
        asyncio.run(journal.record(FunctionCall("write_file", {}), Kind.EDIT, [path], run, whole_tree=False))
    except UndoUnavailable as refusal:
        refusals.append(str(refusal))
"""


def worker(code: str, *words: object, **options: Any) -> "subprocess.Popen[str]":
    arguments = [sys.executable, "-c", WORKER + code, *map(str, words)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    for directory in range(10):
        (made / f"d{directory}").mkdir(parents=True)
        for number in range(20):
            (made / f"d{directory}" / f"f{number}").write_bytes(hashlib.sha256(b"%d %d" % (directory, number)).digest())
    return made


class TestKills:
    def test_killed_while_it_looks_or_runs(self, tmp_path: Path, root: Path) -> None:
        before = contents(root)
        for attempt in range(5):
            child = worker('shell("echo done")', tmp_path / "state", root, "-")
            time.sleep(0.1 + 0.05 * attempt)
            child.kill()
            child.communicate()
        assert contents(root) == before
        child = worker('shell("rm -r d3")\nprint(len(journal.entries()[0].changes))', tmp_path / "state", root, "-")
        out, error = child.communicate(timeout=60)
        assert (out.splitlines()[-1], error) == ("21", "")
        journal = UndoRecorder(str(tmp_path / "state"), [str(root)])
        assert journal.restore(journal.entries()[0].id).refused == ()
        journal.close()
        assert contents(root) == before

    def test_killed_while_it_restores(self, tmp_path: Path, root: Path) -> None:
        """Every file is old or new, and restoring again finishes the work."""
        state = tmp_path / "state"
        before = contents(root)
        command = "rm -r d1 d2 d3; for f in */*; do echo changed > $f; done; mkdir new; > new/f"
        child = worker("shell(rest[0])", state, root, "-", command)
        assert child.communicate(timeout=60)[1] == ""
        changed = contents(root)
        kills = 0
        journal = UndoRecorder(str(state), [str(root)])
        entry = journal.entries()[0]
        for attempt in range(8):
            child = worker("print('ready', flush=True)\njournal.restore(rest[0])", state, root, "-", entry.id)
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(0.004 * attempt)
            child.kill()
            child.communicate()
            kills += child.returncode == -signal.SIGKILL
            now = contents(root)
            for path in before.keys() | changed.keys():
                assert now.get(path) in (before.get(path), changed.get(path)), path
            extra = now.keys() - before.keys() - changed.keys()
            assert all(os.path.basename(path).startswith(".tejat-") for path in extra)
        assert kills > 0
        assert journal.restore(entry.id).refused == ()
        journal.close()
        assert contents(root) == before


class TestCompany:
    def test_two_processes_at_once(self, tmp_path: Path, root: Path) -> None:
        """Both write files of their own, in one project, with one journal."""
        state = tmp_path / "state"
        before = contents(root)
        script = """
def write(path, text):
    async def run():
        with open(os.path.join(root, path), "a") as file:
            file.write(text)
        return ToolResult("")
    asyncio.run(journal.record(FunctionCall("write_file", {}), Kind.EDIT, [path], run, whole_tree=False))

for number in range(15):
    write(f"{action}/f{number}", action * 1000)
    write(f"{action}/new{number}", str(number))
print(journal.warnings)
"""
        both = [worker(script, state, root, name) for name in ("d1", "d2")]
        for child in both:
            out, error = child.communicate(timeout=100)
            assert (out, error) == ("[]\n", "")
        assert len(contents(root)) == len(before) + 30
        journal = UndoRecorder(str(state), [str(root)])
        assert len(journal.entries()) == 60
        for entry in journal.entries():
            assert journal.restore(entry.id).refused == ()
        journal.close()
        assert contents(root) == before

    def test_what_the_user_does_while_a_command_waits_is_left_alone(self, tmp_path: Path, root: Path) -> None:
        state = tmp_path / "state"
        before = contents(root)
        os.mkfifo(tmp_path / "signal")
        command = f"read < {tmp_path}/signal; rm d1/f1; echo mine > d2/f2; echo mine > new"
        child = worker("shell(rest[0])", state, root, "-", command)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(1.5)  # until it is seen to wait
        (root / "d3" / "f3").write_text("the user's")
        (root / "d4" / "f4").unlink()
        (root / "d5" / "new").write_text("the user's")
        time.sleep(1)
        (tmp_path / "signal").write_text("\n")
        assert child.communicate(timeout=60)[1] == ""
        journal = UndoRecorder(str(state), [str(root)])
        (entry,) = journal.entries()
        result = journal.restore(entry.id)
        theirs = {f"{root}/d3/f3", f"{root}/d4/f4", f"{root}/d5/new"}
        assert set(result.restored) == {f"{root}/d1/f1", f"{root}/d2/f2", f"{root}/new"}
        assert {foreign.path for foreign in result.left_out} == theirs
        assert result.is_complete
        kept = {path: content for path, content in before.items() if path not in ("d3/f3", "d4/f4")}
        assert contents(root) == kept | {"d3/f3": b"the user's", "d5/new": b"the user's"}
        named = journal.restore(entry.id, RestoreScope((f"{root}/d4",)))
        assert named.restored == (f"{root}/d4/f4",)
        assert set(journal.restore(entry.id, RestoreScope(foreign=True)).restored) == theirs - {f"{root}/d4/f4"}
        journal.close()
        assert contents(root) == before

    def test_commands_of_many_sessions_at_once(self, tmp_path: Path, root: Path) -> None:
        """Each changes files of its own, and no entry claims those of another."""
        state = tmp_path / "state"
        before = contents(root)
        script = "sys.stdin.read(1)\nshell(f'echo {action} > {action}/f0; sleep 0.5; rm {action}/f1; > {action}/new')"
        names = [f"d{number}" for number in range(6)]
        children = [worker(script, state, root, name, stdin=subprocess.PIPE) for name in names]
        for child in children:
            assert child.stdin is not None
            child.stdin.write("x")
            child.stdin.flush()
        for child in children:
            assert child.communicate(timeout=100)[1] == ""
        journal = UndoRecorder(str(state), [str(root)])
        entries = journal.entries()
        assert len(entries) == len(names)
        assert sum(len(entry.changes) > 3 for entry in entries) > 1  # they did see those of others
        for entry in entries:
            (own,) = {change.path.partition("/")[0] for change in entry.own_changes}
            assert f"echo {own} " in entry.summary
            result = journal.restore(entry.id)
            assert (result.refused, result.is_complete, len(result.restored)) == ((), True, 3)
        journal.close()
        assert contents(root) == before

    def test_a_session_in_a_subdirectory_has_a_journal_of_its_own(self, tmp_path: Path, root: Path) -> None:
        """Each side sees what the other changed, and leaves it alone."""
        state = tmp_path / "state"
        before = contents(root)
        os.mkfifo(tmp_path / "signal")
        child = worker("shell(rest[0])", state, root, "-", f"read < {tmp_path}/signal; > d1/outer")
        assert child.stdout is not None
        child.stdout.readline()
        inner = worker("shell('exec 3>f1; exec 3>f9; > inner')", state, root / "d1", "-")
        assert inner.communicate(timeout=60)[1] == ""
        (tmp_path / "signal").write_text("\n")
        assert child.communicate(timeout=60)[1] == ""
        for place, own in (
            (root, {f"{root}/d1/outer"}),
            (root / "d1", {f"{root}/d1/{name}" for name in ("f1", "f9", "inner")}),
        ):
            journal = UndoRecorder(str(state), [str(place)])
            (entry,) = journal.entries()
            assert set(journal.restore(entry.id).restored) == own
            journal.close()
        assert contents(root) == before

    def test_beside_a_killed_command_all_is_doubtful_but_what_is_named(self, tmp_path: Path, root: Path) -> None:
        state = tmp_path / "state"
        other = worker("shell('exec sleep 20 > /dev/null 2>&1')", state, root, "-")
        assert other.stdout is not None
        other.stdout.readline()
        child = worker("shell('echo x > d1/new; python3 -c \"open(chr(121), chr(119))\"')", state, root, "-")
        assert child.communicate(timeout=60)[1] == ""
        other.kill()
        other.communicate()
        for _ in range(2):
            journal = UndoRecorder(str(state), [str(root)])
            entry = journal.entries()[0]
            journal.close()
            assert {foreign.path: foreign.is_proven for foreign in entry.foreign} == {f"{root}/y": False}
            assert [change.path for change in entry.own_changes] == ["d1/new"]
            assert worker("shell('true')", state, root, "-").communicate(timeout=60)[1] == ""

    def test_no_thread_of_the_call_keeps_the_lock(self, tmp_path: Path, root: Path) -> None:
        """A process that the command leaves behind does not hold up the next call."""
        script = 'shell("echo 1 > x; sleep 30 > /dev/null 2>&1 & echo $! > pid"); shell("echo 2 > x")'
        child = worker(script, tmp_path / "state", root, "-")
        assert child.communicate(timeout=20)[1] == ""
        os.kill(int((root / "pid").read_text()), signal.SIGKILL)
        journal = UndoRecorder(str(tmp_path / "state"), [str(root)])
        assert len(journal.entries()) == 2
        journal.close()


class TestDamage:
    @pytest.fixture
    def state(self, tmp_path: Path, root: Path) -> Path:
        state = tmp_path / "state"
        child = worker('shell("rm -r d1"); shell("rm -r d2")', state, root, "-")
        assert child.communicate(timeout=60)[1] == ""
        return state

    @pytest.fixture
    def files(self, state: Path) -> Path:
        (project,) = state.iterdir()
        return project

    def test_torn_lines_are_ignored(self, state: Path, files: Path, root: Path) -> None:
        lines = (files / "entries.jsonl").read_bytes().splitlines(keepends=True)
        (files / "entries.jsonl").write_bytes(lines[0] + b'{"id": 1}\nnull\n\xff\n' + lines[1][: len(lines[1]) // 2])
        child = worker('shell("rm -r d4")\nprint(json.dumps([e.summary for e in journal.entries()]))', state, root, "-")
        out, error = child.communicate(timeout=60)
        assert error == ""
        assert json.loads(out.splitlines()[-1]) == ["rm -r d4", "rm -r d1"]

    @pytest.mark.parametrize("name", ["index", "digests", "pack"])
    @pytest.mark.parametrize("cut", [1, 100_000])
    def test_torn_files_heal(self, state: Path, files: Path, root: Path, name: str, cut: int) -> None:
        (path,) = [path for path in files.iterdir() if path.name.startswith(name)]
        size = path.stat().st_size
        os.truncate(path, max(size - cut, 0))
        before = contents(root)
        child = worker('shell("rm -r d5 d6")\nprint(journal.warnings)', state, root, "-")
        out, error = child.communicate(timeout=60)
        assert (out.splitlines()[-1], error) == ("[]", "")
        journal = UndoRecorder(str(state), [str(root)])
        newest, *older = journal.entries()
        assert {change.kind for change in newest.changes} == {ChangeKind.REMOVED}
        assert journal.restore(newest.id).refused == ()
        assert contents(root) == before
        for entry in older:
            refused = journal.restore(entry.id).refused
            assert {remark.reason for remark in refused} <= {"its previous content is no longer available"}
            assert name == "pack" or not refused
        journal.close()

    def test_garbage_at_the_end_of_a_pack_is_cut_off(self, state: Path, files: Path, root: Path) -> None:
        with open(files / "pack-000001", "ab") as pack:
            pack.write(b"tjt1 and then some")
        child = worker('shell("rm -r d5")\nprint(journal.warnings)', state, root, "-")
        assert child.communicate(timeout=60)[1] == ""
        journal = UndoRecorder(str(state), [str(root)])
        for entry in journal.entries():
            assert journal.restore(entry.id).refused == ()
        journal.close()

    def test_damaged_content_is_never_put_back(self, state: Path, files: Path, root: Path) -> None:
        pack = bytearray((files / "pack-000001").read_bytes())
        for position in range(60, len(pack), 76):
            pack[position] ^= 1
        (files / "pack-000001").write_bytes(pack)
        journal = UndoRecorder(str(state), [str(root)])
        result = journal.restore(journal.entries()[0].id)
        journal.close()
        assert {remark.reason for remark in result.refused} == {"could not be restored: its saved content is damaged"}
        assert not list((root / "d2").iterdir())


class TestFullDisk:
    """Without room for the old contents nothing is run."""

    @pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs a small disk of its own")
    @pytest.mark.parametrize("is_full_before", [False, True])
    def test_a_full_disk(self, tmp_path: Path, root: Path, is_full_before: bool) -> None:
        """It is filled by the contents to be kept, or it is full and there is nothing to be kept."""
        code = """
if rest:
    os.makedirs(journal.directory)
    with suppress(OSError), open(f"{state}/other", "wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    write("new")
else:
    shell("echo 1 >> d1/f1")
print(json.dumps([refusals, [len(entry.changes) for entry in journal.entries()]]))
"""
        (tmp_path / "small").mkdir()
        if not is_full_before:
            (root / "large").write_bytes(os.urandom(3_000_000))
        mount = f'mount -t tmpfs -o size=1m none {tmp_path}/small && exec "$@"'
        arguments = [sys.executable, "-c", WORKER + code, str(tmp_path / "small" / "state"), str(root), "-"]
        arguments += ["full"] * is_full_before
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", mount, "sh", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if "unshare" in done.stderr or "mount" in done.stderr:
            pytest.skip(done.stderr)
        assert done.stderr == ""
        (refusal,), entries = json.loads(done.stdout.splitlines()[-1])
        assert f"({os.strerror(errno.ENOSPC)})" in refusal
        assert entries == []
        assert "running" not in done.stdout
        assert not (root / "new").exists()

    def test_a_limit_on_file_sizes(self, tmp_path: Path, root: Path) -> None:
        with open(root / "large", "wb") as file:
            file.write(os.urandom(300_000))
        code = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
shell("echo 1 >> d1/f1")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
shell("echo 2 >> d1/f1")
print(json.dumps([refusals, [len(entry.changes) for entry in journal.entries()]]))
"""
        child = worker(code, tmp_path / "state", root, "-")
        out, error = child.communicate(timeout=60)
        assert error == ""
        (refusal,), entries = json.loads(out.splitlines()[-1])
        assert f"({os.strerror(errno.EFBIG)})" in refusal
        assert entries == [1]
        assert (root / "d1" / "f1").read_bytes().endswith(b"2\n")

    def test_a_directory_that_cannot_be_made(self, tmp_path: Path, root: Path) -> None:
        (tmp_path / "file").touch()
        child = worker('shell("echo 1 > d1/f1")\nprint(*refusals)', tmp_path / "file" / "state", root, "-")
        out, error = child.communicate(timeout=60)
        assert error == ""
        assert out.startswith("This cannot be undone: could not save the current files in ")
        assert "(Not a directory). " in out
        assert (root / "d1" / "f1").read_bytes() != b"1\n"
