"""`tejat undo`: lists, shows, asks, puts back, and says in few words what it did."""

import asyncio
import errno
import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tejat.cli.commands import undo
from tejat.cli.main import main
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult
from tejat.core.undo import UndoEntry
from tejat.engine.calls.undo_recorder import UndoRecorder
from tejat.workspace.undo.attribution.call_window import open_window
from tejat.workspace.undo.private_directory import PrivateDirectory


class Place:
    def __init__(self, base: Path) -> None:
        self.root = base / "project"
        self.root.mkdir()
        self.state = base / "state"

    def open(self, roots: Sequence[str]) -> UndoRecorder:
        return UndoRecorder(str(self.state), [str(self.root) if root == "." else root for root in roots])

    def shell(self, command: str, *, beside: str | None = None) -> UndoEntry:
        """Run a command, and let another session write a file meanwhile."""

        async def execute() -> ToolResult:
            subprocess.run(["bash", "-c", command], cwd=self.root, check=True)  # noqa: ASYNC221 -- nothing else runs
            if beside is not None:
                await self.write(beside)
            return ToolResult("")

        journal = self.open(["."])
        call = FunctionCall("run_shell_command", {"command": command})
        asyncio.run(journal.record(call, Kind.EXECUTE, [], execute, whole_tree=True))
        entry = journal.entries()[0]
        journal.close()
        return entry

    async def write(self, name: str) -> None:
        async def execute() -> ToolResult:
            (self.root / name).write_text("theirs")
            return ToolResult("")

        journal = self.open(["."])
        await journal.record(FunctionCall("write_file", {}), Kind.EDIT, [name], execute, whole_tree=False)
        journal.close()

    def __call__(self, *words: str) -> int:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(undo, "open_undo", self.open)
            return main(["undo", *words])


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


class TestList:
    @pytest.mark.parametrize("words", [(), ("list",)])
    def test_nothing(self, place: Place, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
        assert place(*words) == 0
        assert capsys.readouterr() == ("Nothing to undo.\n", "")
        assert not place.state.exists()

    def test_newest_first(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        first = place.shell("echo 1 > a; echo 2 > b")
        second = place.shell("rm a; printf '\\x1b[2J' > /dev/null")
        assert place("list") == 0
        out, error = capsys.readouterr()
        above, below = out.splitlines()
        assert above.startswith(second.id)
        assert above.endswith("run_shell_command: rm a; printf '\\x1b[2J' > /dev/null [1 removed]")
        assert below.startswith(first.id)
        assert below.endswith("run_shell_command: echo 1 > a; echo 2 > b [2 created]")
        assert error == ""

    def test_what_cannot_be_undone_is_said(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        with open(place.root / "large", "wb") as file:
            file.truncate(3_000_000_000)
        place.shell("rm large")
        assert place() == 0
        title, skipped = capsys.readouterr().out.splitlines()
        assert title.endswith("[nothing that can be undone]")
        why = "removed, and the old content is gone: too large to be kept (3.0 GB)"
        assert skipped == f"        cannot be undone: {place.root}/large: {why}"

    def test_what_went_wrong_earlier_is_said(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        journal = UndoRecorder(str(place.state), [str(place.root)], limit=1000)
        (place.root / "a").write_bytes(b"a" * 2000)

        async def execute() -> ToolResult:
            return ToolResult("")

        asyncio.run(journal.record(FunctionCall("x", {}), Kind.OTHER, [], execute, whole_tree=True))
        journal.close()
        assert place() == 0
        note = "Undo storage is full (1.0 kB): 2.0 kB more needed."
        assert capsys.readouterr().err == f"note: {time.strftime('%Y-%m-%d')} {note}\n"

    def test_hidden_characters_are_shown(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        place.shell("echo '\u202e\x1b[31m' > a")
        assert place() == 0
        assert "echo '<U+202E><U+001B>[31m' > a" in capsys.readouterr().out

    def test_json(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        entry = place.shell("mkdir d; echo 1 > a; ln -s x l; chmod 644 a")
        assert place("--json") == 0
        sha = "4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865"
        directory = (place.root / "d").stat().st_mode & 0o7777
        after = [
            {"kind": "file", "mode": "0644", "size": 2, "sha256": sha},
            {"kind": "directory", "mode": f"{directory:04o}"},
            {"kind": "link", "target": "x"},
        ]
        assert json.loads(capsys.readouterr().out) == [
            {
                "id": entry.id,
                "time": entry.time,
                "tool": "run_shell_command",
                "what": entry.summary,
                "changes": [
                    {"path": f"{place.root}/{name}", "change": "created", "before": None, "after": node}
                    for name, node in zip("adl", after, strict=True)
                ],
                "skipped": [],
                "foreign": [],
                "undoes": None,
                "undoneBy": None,
            }
        ]


class TestShow:
    def test_patch(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        entry = place.shell("printf 'one\\n' > a; mkdir d")
        assert place("show", entry.id) == 0
        out = capsys.readouterr().out
        assert out.splitlines()[0].startswith(entry.id)
        assert "@@ -0,0 +1,1 @@\n+one\n" in out
        assert f"{place.root}/d: created (directory)\n" in out

    def test_unknown(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        assert place("show", "nope") == 2
        assert capsys.readouterr() == ("", "tejat: No entry 'nope'. Run `tejat undo` to list all entries.\n")


class TestRestore:
    def test_yes(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        entry = place.shell("echo 1 > a")
        assert place("restore", entry.id, "--yes") == 0
        assert capsys.readouterr() == (f"{entry.id}: restored 1 path.\n", "")
        assert os.listdir(place.root) == []
        assert place("restore", entry.id, "--yes") == 0
        assert capsys.readouterr() == (f"{entry.id}: nothing left to restore.\n", "")

    def test_nobody_there_to_ask(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        entry = place.shell("echo 1 > a")
        assert place("restore", entry.id) == 3
        out, error = capsys.readouterr()
        assert out == ""
        assert f"        delete {place.root}/a\n" in error
        assert error.endswith("tejat: No terminal to ask on. Use --yes to restore without asking.\n")
        assert os.listdir(place.root) == ["a"]

    def test_refused(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        entry = place.shell("echo 1 > a; echo 1 > b")
        (place.root / "a").write_text("mine")
        assert place("restore", entry.id, "--yes") == 1
        out, error = capsys.readouterr()
        assert out == ""
        assert error.splitlines() == [
            f"tejat: {entry.id} was not restored and nothing was changed:",
            f"        {place.root}/a: changed since then",
            "Use --partial to restore the rest.",
        ]
        assert place("restore", entry.id, "--yes", "--partial") == 1
        out, error = capsys.readouterr()
        assert out == f"{entry.id}: restored 1 path.\n"
        assert error == f"        {place.root}/a: changed since then\n"
        assert os.listdir(place.root) == ["a"]

    def test_the_last_few(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        entries = [place.shell(f"echo {number} > f{number}") for number in range(4)]
        assert place("--last", "2", "--yes") == 0
        assert capsys.readouterr().out.splitlines() == [
            f"{entries[3].id}: restored 1 path.",
            f"{entries[2].id}: restored 1 path.",
        ]
        assert sorted(os.listdir(place.root)) == ["f0", "f1"]
        (place.root / "f0").write_text("mine")
        assert place("--last", "5", "--yes") == 1
        assert os.listdir(place.root) == ["f0"]

    def test_the_last_stops_at_the_first_refusal(self, place: Place) -> None:
        for number in range(3):
            place.shell(f"echo {number} > f{number}")
        (place.root / "f1").write_text("mine")
        assert place("--last", "3", "--yes") == 1
        assert sorted(os.listdir(place.root)) == ["f0", "f1"]

    def test_what_others_did_meanwhile_is_left_and_said(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        entry = place.shell("echo 1 > a", beside="b")
        assert place("list") == 0
        assert "[1 created, 1 by other programs]" in capsys.readouterr().out
        assert place("restore", entry.id, "--yes") == 0
        out, error = capsys.readouterr()
        assert out == f"{entry.id}: restored 1 path.\n"
        left, reason, hint = error.splitlines()
        assert left == "tejat: Left unchanged, because something else may have changed it:"
        assert reason.startswith(f"        {place.root}/b: changed by ")
        assert hint == f"To restore all of it: tejat undo restore {entry.id} --all, or name the paths."
        assert os.listdir(place.root) == ["b"]
        assert place("show", entry.id) == 0
        assert f"possibly changed by another program: {place.root}/b: changed by " in capsys.readouterr().out
        assert place("restore", entry.id) == 3
        assert f"        left unchanged: {place.root}/b: " in capsys.readouterr().err

    def test_what_others_did_is_put_back_if_it_is_named(
        self, place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        entry = place.shell("echo 1 > a", beside="b")
        monkeypatch.chdir(place.root)
        assert place("restore", entry.id, "b", "--yes") == 0
        assert capsys.readouterr() == (f"{entry.id}: restored 1 path.\n", "")
        assert os.listdir(place.root) == ["a"]
        assert place("restore", entry.id, "c", "--yes") == 2
        assert capsys.readouterr().err == f"tejat: {entry.id} did not change {place.root}/c\n"
        assert place("restore", entry.id, "--all", "--yes") == 0
        assert capsys.readouterr() == (f"{entry.id}: restored 1 path.\n", "")
        assert os.listdir(place.root) == []

    def test_with_a_doubt_it_is_not_all_as_it_was(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        journal = place.open(["."])
        with open_window(PrivateDirectory(journal.directory), list):
            entry = place.shell("touch a; python3 -c 'open(chr(98), chr(119))'")
            assert place("restore", entry.id, "--yes") == 1
        journal.close()
        assert f"{place.root}/b: changed while another call was running here" in capsys.readouterr().err
        assert os.listdir(place.root) == ["b"]

    def test_losses_are_repeated(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        place.shell("echo 1 > one; ln one two; mkfifo pipe; truncate -s 40M big")
        entry = place.shell("rm one pipe big; echo 1 > new")
        assert place("restore", entry.id, "--yes") == 1
        out, error = capsys.readouterr()
        assert out == f"{entry.id}: restored 2 paths.\n"
        assert error.splitlines() == [
            f"tejat: Part of {entry.id} cannot be undone:",
            f"        {place.root}/big: removed, and the old content is gone: too large to be kept (41.9 MB)",
            f"        {place.root}/one: was the same file as two (a hard link), and comes back as a copy",
            f"        {place.root}/pipe: was a pipe, socket or device",
        ]
        assert place("restore", entry.id, "--yes") == 1
        assert capsys.readouterr().out == f"{entry.id}: nothing was restored.\n"

    def test_caches_are_not_the_last_change(self, place: Place) -> None:
        place.shell("echo 1 > a.py")
        place.shell("mkdir __pycache__; touch __pycache__/a.pyc")
        assert place("--last", "1", "--yes") == 0
        assert os.listdir(place.root) == ["__pycache__"]

    def test_a_large_delete(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        place.shell("mkdir src; cd src; seq 1 5000 | xargs touch")
        place.shell("rm -rf src")
        assert place("--last", "1") == 3
        assert f"restore {place.root}/src\n" in capsys.readouterr().err
        entry = place.shell("echo 1 > a")
        assert place("--last", "1", "--yes") == 0
        assert capsys.readouterr() == (f"{entry.id}: restored 1 path.\n", "")

    def test_a_log_that_cannot_be_written(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        entry = place.shell("echo 1 > a")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "write", lambda *_: raise_error(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
            assert place("restore", entry.id, "--yes") == 1
        out, error = capsys.readouterr()
        assert (place.root / "a").exists() or "This restore cannot be undone: No space left on device" in error
        assert "nothing left to restore" not in out
        assert place("restore", entry.id, "--yes") == 0


def raise_error(error: OSError) -> int:
    raise error


class TestWords:
    def test_help(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        assert place("--help") == 0
        assert capsys.readouterr().out == undo.make_parser().format_help()

    @pytest.mark.parametrize(
        "words",
        [
            ("restore",),
            ("show",),
            ("what",),
            ("list", "x"),
            ("--last", "0"),
            ("--last", "1", "list"),
            ("show", "a", "b"),
            ("restore", "a", "b", "--all"),
        ],
    )
    def test_wrong(self, place: Place, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
        assert place(*words) == 2
        assert capsys.readouterr().err.startswith("tejat: ")

    def test_missing_root(self, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
        assert place("--root", "/no/such/place") == 2
        assert "/no/such/place" in capsys.readouterr().err


ON_A_TERMINAL = """
import sys
from tejat.cli.commands import undo
from tejat.engine.calls.undo_recorder import UndoRecorder
state, root, *words = sys.argv[1:]
undo.open_undo = lambda _: UndoRecorder(state, [root])
sys.exit(undo.run(words))
"""


@pytest.mark.parametrize(("answer", "code", "left"), [(b"y\n", 0, []), (b"what\nn\n", 3, ["a"]), (b"\x04", 3, ["a"])])
def test_a_person_is_asked(place: Place, answer: bytes, code: int, left: list[str]) -> None:
    entry = place.shell("echo 1 > a")
    outer, inner = pty.openpty()
    arguments = [sys.executable, "-c", ON_A_TERMINAL, str(place.state), str(place.root), "restore", entry.id]
    child = subprocess.Popen(arguments, stdin=inner, stdout=inner, stderr=inner)
    os.close(inner)
    os.write(outer, answer)
    shown = b""
    try:
        while block := os.read(outer, 65536):
            shown += block
    except OSError:
        pass  # how Linux says that the other side is closed
    finally:
        os.close(outer)
    assert child.wait(30) == code
    assert b"delete " + os.fsencode(place.root / "a") in shown
    assert b"1 + 1\r\n" in re.sub(rb"\x1b\[[0-9;]*m| +(?=\r)", b"", shown)
    assert b"Restore these files? [y]es / [n]o: " in shown
    assert os.listdir(place.root) == left
