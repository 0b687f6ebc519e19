"""Rewriting a text by hand: the files that the editor gets, which editor it is, and what comes back of it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tejat.core.errors import UsageError
from tejat.core.ui.editors import KNOWN_EDITORS
from tejat.ui.shared.external.editor import ExternalEditor, _diff_command

EDIT = """
import asyncio, json, sys
from tejat.ui.shared.external.editor import ExternalEditor
from tejat.core.errors import UsageError
given = json.loads(sys.argv[1])
try:
    edited = ExternalEditor(given["preferred"]).edit_diff(given["name"], old=given["old"], new=given["new"])
    print(ascii(asyncio.run(edited)))
except UsageError as error:
    print("refused:", error)
"""


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    directory = tmp_path.resolve() / "temporary"
    directory.mkdir()
    return directory


def program(path: Path, *lines: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


@contextmanager
def started(
    temporary: Path, given: dict[str, str | None], environment: dict[str, str]
) -> "Generator[subprocess.Popen[str]]":
    """The program at a terminal on which nobody types."""
    controller, line = os.openpty()
    try:
        with subprocess.Popen(
            [sys.executable, "-c", EDIT, json.dumps({"preferred": None, "name": "a.txt", **given})],
            stdin=line,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "TMPDIR": str(temporary), "VISUAL": "", "EDITOR": "", **environment},
        ) as process:
            try:
                yield process
            finally:
                process.kill()
    finally:
        os.close(controller)
        os.close(line)


def edited(temporary: Path, *, old: str = "old\n", new: str = "new\n", **settings: str) -> str:
    """What the program says that came back, after looking that nothing was left behind."""
    given: dict[str, str | None] = {"old": old, "new": new}
    given |= {key: settings.pop(key) for key in ("preferred", "name") if key in settings}
    with started(temporary, given, settings) as process:
        printed, complaints = process.communicate(timeout=60)
    assert (process.returncode, complaints) == (0, "")
    assert list(temporary.iterdir()) == []
    return printed.rstrip("\n")


class TestWhatTheEditorGets:
    def test_two_private_files_in_a_private_directory(self, temporary: Path, tmp_path: Path) -> None:
        seen = tmp_path / "seen"
        editor = program(
            tmp_path / "editor",
            f"exec >{seen}",
            'stat -c "%a" "$PWD" "$PWD"/*',
            'cat "$PWD"/*-old-* "$PWD"/*-new-*',
            'ls "$PWD"',
            'echo "$#" "$1"',
            "[ -t 0 ] && echo terminal",
            'printf "more\\n" >> "$1"',
        )
        assert edited(temporary, VISUAL=str(editor), name="re port;$(x)\n.p y") == "'new\\nmore\\n'"
        *modes, old, new, new_name, old_name, given, terminal = seen.read_text().splitlines()
        assert (modes, old, new, terminal) == (["700", "600", "600"], "old", "new", "terminal")
        stamp = new_name.removeprefix("gemini-cli-modify-re_port___x__-new-").removesuffix(".p_y")
        assert abs(time.time() - int(stamp) / 1000) < 60
        assert old_name == new_name.replace("-new-", "-old-")
        count, path = given.split(" ", 1)
        assert count == "1"
        assert os.path.basename(path) == new_name
        assert os.path.dirname(path).startswith(f"{temporary}/gemini-cli-tool-modify-")

    @pytest.mark.parametrize("umask", [0o000, 0o777])
    def test_whatever_the_umask(self, temporary: Path, tmp_path: Path, umask: int) -> None:
        editor = program(
            tmp_path / "editor", "umask 022", f'stat -c "%a" . * | sort -u >{tmp_path}/seen', 'echo x > "$1"'
        )
        before = os.umask(umask)
        try:
            with started(temporary, {"old": "", "new": ""}, {"EDITOR": str(editor)}) as process:
                printed = process.communicate(timeout=60)[0]
        finally:
            os.umask(before)
        assert printed == "'x\\n'\n"
        assert (tmp_path / "seen").read_text() == "600\n700\n"
        assert list(temporary.iterdir()) == []

    @pytest.mark.parametrize("text", ["", "no end", "a\r\nb\rc\n", "日本 \U0001f600\n", "\x00\x1b[2J\n"])
    def test_texts_come_back_as_they_were(self, temporary: Path, text: str) -> None:
        assert edited(temporary, new=text, VISUAL="true") == ascii(text)

    def test_bytes_that_are_no_text_come_back_too(self, temporary: Path) -> None:
        assert edited(temporary, new="a\udcff\n", VISUAL="true") == ascii("a\udcff\n")
        assert edited(temporary, new="a\ud800\n", VISUAL="true") == (
            "refused: The text contains characters that an editor cannot read."
        )


class TestWhatComesBack:
    def test_a_file_that_was_removed_is_empty(self, temporary: Path) -> None:
        assert edited(temporary, VISUAL="rm") == "''"

    def test_an_editor_that_fails(self, temporary: Path) -> None:
        assert edited(temporary, VISUAL="false") == ("refused: The editor exited with code 1. Nothing was changed.")

    def test_whatever_the_editor_leaves_is_removed(self, temporary: Path, tmp_path: Path) -> None:
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "kept").touch()
        editor = program(
            tmp_path / "editor",
            "mkdir -p a/b",
            "touch a/b/c .swp",
            f"ln -s {tmp_path}/mine link",
            "ln -s none dangling",
        )
        assert edited(temporary, VISUAL=str(editor)) == "'new\\n'"
        assert (tmp_path / "mine" / "kept").exists()

    def test_no_place_for_files(self, temporary: Path) -> None:
        refused = edited(temporary, VISUAL="true", TMPDIR=f"{temporary}/none")
        assert refused == "refused: Could not open the editor: No such file or directory."

    def test_an_interrupt_ends_the_editor_and_leaves_nothing(self, temporary: Path, tmp_path: Path) -> None:
        editor = program(tmp_path / "editor", "trap '' TERM", f"echo $$ > {tmp_path}/pid", "exec sleep 60")
        with started(temporary, {"old": "", "new": ""}, {"EDITOR": str(editor)}) as process:
            deadline = time.monotonic() + 30
            while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
                assert time.monotonic() < deadline
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)
        assert list(temporary.iterdir()) == []
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), 0)


class TestWhichEditor:
    def found(self, editor: ExternalEditor) -> list[str]:
        return editor._command()

    @pytest.fixture(autouse=True)
    def bare(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
        for name in ("VISUAL", "EDITOR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PATH", f"{tmp_path}/bin")
        return tmp_path / "bin"

    def test_the_setting_first_then_visual_then_editor(self, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("nvim", "one", "two"):
            program(bare / name)
        monkeypatch.setenv("EDITOR", "one")
        assert self.found(ExternalEditor()) == [f"{bare}/one"]
        monkeypatch.setenv("VISUAL", "two -x 'a b'")
        assert self.found(ExternalEditor()) == [f"{bare}/two", "-x", "a b"]
        assert self.found(ExternalEditor("neovim")) == [f"{bare}/nvim"]
        assert self.found(ExternalEditor("one --wait 'a b'")) == [f"{bare}/one", "--wait", "a b"]
        monkeypatch.setenv("VISUAL", "  ")
        assert self.found(ExternalEditor()) == [f"{bare}/one"]

    def test_every_editor_of_the_list(self, bare: Path) -> None:
        for name, commands in KNOWN_EDITORS.items():
            words = commands[-1].split()
            path = program(bare / words[0])
            assert self.found(ExternalEditor(name)) == [str(path), *words[1:]]
            path.unlink()

    def test_a_new_window_of_those_that_have_one(self, bare: Path) -> None:
        family = {"vscode", "vscodium", "windsurf", "cursor", "antigravity"}
        for name, commands in KNOWN_EDITORS.items():
            words = commands[0].split()
            path = program(bare / words[0])
            option = ["--new-window"] if name in family else []
            assert self.found(ExternalEditor(name, new_window=True)) == [str(path), *words[1:], *option]
        command = self.found(ExternalEditor("code --profile x", new_window=True))
        shown = _diff_command(command, "/t/old", "/t/new")
        assert shown[1:] == ["--profile", "x", "--new-window", "--wait", "--diff", "/t/old", "/t/new"]

    @pytest.mark.parametrize(
        ("preferred", "value", "reason"),
        [
            (None, "", "No external editor is available. Set VISUAL or EDITOR, or preferredEditor in the settings."),
            (None, "nothing -x", "No external editor is available: nothing was not found."),
            (None, "./here", "No external editor is available: ./here was not found."),
            (None, "/none/here", "No external editor is available: /none/here was not found."),
            (None, "'open", "No external editor is available: could not parse VISUAL (No closing quotation)."),
            ("vscode", "", "No external editor is available: code was not found."),
            ("nothing -x", "", "No external editor is available: nothing was not found."),
            ("'open", "", "No external editor is available: could not parse preferredEditor (No closing quotation)."),
        ],
    )
    def test_none(self, preferred: str | None, value: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("VISUAL", value)
        with pytest.raises(UsageError) as caught:
            self.found(ExternalEditor(preferred))
        assert str(caught.value) == reason

    def test_no_shell_ever_reads_it(self, temporary: Path, tmp_path: Path) -> None:
        mark = tmp_path / "MARK"
        for value in (f"true; touch {mark}", f"true $(touch {mark})", f"true `touch {mark}` && touch {mark}"):
            edited(temporary, VISUAL=value)
        assert not mark.exists()

    def test_a_program_of_the_project_is_never_taken_from_path(
        self, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        project = tmp_path / "project"
        program(project / "vim", "exit 1")
        bare.mkdir()
        (bare / "vim").symlink_to(project / "vim")
        (tmp_path / "link").symlink_to(project)
        other = program(tmp_path / "other" / "vim")
        monkeypatch.chdir(project)
        monkeypatch.setenv("PATH", f"{project}:{tmp_path}/link:.::{bare}:{tmp_path}/other")
        assert self.found(ExternalEditor("vim", (str(project),))) == [str(other)]
        assert self.found(ExternalEditor("vim", (str(tmp_path / "link"),))) == [str(other)]
        assert self.found(ExternalEditor("vim", (str(tmp_path / "proj"),))) == [f"{project}/vim"]

    @pytest.mark.parametrize(
        ("command", "arguments"),
        [
            (["/b/code"], ["--wait", "--diff", "/t/old", '/t/n"ew']),
            (["/b/code", "-n"], ["-n", "--wait", "--diff", "/t/old", '/t/n"ew']),
            (["/b/zed"], ["--wait", "--diff", "/t/old", '/t/n"ew']),
            (
                ["/b/vim"],
                [
                    *("-n", "-i", "NONE", "--cmd", "autocmd BufReadPre * setlocal nomodeline nofixendofline"),
                    *("-d", "-c", "wincmd h | setlocal readonly nomodifiable | wincmd l", "/t/old", '/t/n"ew'),
                ],
            ),
            (
                ["/b/emacs", "-nw"],
                ["-nw", "--eval", '(progn (setq enable-local-variables nil) (ediff-files "/t/old" "/t/n\\"ew"))'],
            ),
            (["/b/hx"], ["--vsplit", "/t/old", '/t/n"ew']),
            (["/b/subl"], ["-w", '/t/n"ew']),
            (["/b/nano", "-w"], ["-w", '/t/n"ew']),
            (["/b/emacsclient", "-t"], ["-t", '/t/n"ew']),
        ],
    )
    def test_how_it_is_called(self, command: list[str], arguments: list[str]) -> None:
        assert _diff_command(command, "/t/old", '/t/n"ew') == [command[0], *arguments]
