"""The program around its commands: versions, help, lost output, interrupts."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tejat import __version__
from tejat.cli.flags import FLAGS, SHORT_FLAGS
from tejat.cli.help.run_page import help_text, run_page
from tejat.cli.main import main
from tejat.cli.subcommands import NAMES, RESERVED

TEJAT = [sys.executable, "-m", "tejat"]


def tejat(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*TEJAT, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )


def shell(command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell in which `$@` is the program."""
    return subprocess.run(
        ["sh", "-c", command, "sh", *TEJAT], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
    )


class TestInProcess:
    @pytest.mark.parametrize(
        "words",
        [
            *(["-V"], ["-v"], ["--version"], ["--version", "--nonsense"], ["version"], ["-yv"], ["--version=true"]),
            *(["-m", "x", "--version"], ["say", "hi", "-v"], ["--nonsense", "-v"], ["tools", "list", "--version"]),
            *(["sessions", "-v"], ["--no-help", "-v"]),
        ],
    )
    def test_the_version(self, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        try:
            code = main(words)
        except SystemExit as ended:
            code = ended.code
        assert code == 0
        assert capsys.readouterr() == (f"tejat {__version__}\n", "")

    @pytest.mark.parametrize(
        "words", [["-h"], ["--help"], ["--help", "tools"], ["-m", "x", "-h"], ["-yh"], ["help"], ["help", "help"]]
    )
    def test_help(self, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(words) == 0
        assert capsys.readouterr() == (help_text(), "")

    @pytest.mark.parametrize("words", [["help", "jobs"], ["jobs", "--help"], ["jobs", "-h"], ["-d", "jobs", "--help"]])
    def test_the_help_of_a_command(self, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(words) == 0
        assert capsys.readouterr().out.startswith("usage: tejat jobs [list]")

    @pytest.mark.parametrize("words", [["-p", "--version"], ["-p=--help"], ["--", "--version"], ["--prompt=-h"]])
    def test_a_value_is_never_a_flag(self, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["-m", "nobody:x", "-o", "json", *words]) == 42
        assert "nobody" in json.loads(capsys.readouterr().out)["error"]["message"]

    @pytest.mark.parametrize("word", ["--nonsense", "-Z"])
    def test_an_unknown_flag_is_bad_input(self, word: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([word]) == 42
        told = f"tejat: Unknown flag {word}.\nRun `tejat --help` for usage.\n"
        assert capsys.readouterr() == ("", told)

    def test_the_words_come_from_the_process_by_default(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(sys, "argv", ["tejat", "--version"])
        assert main() == 0
        assert capsys.readouterr().out == f"tejat {__version__}\n"


class TestCommands:
    """Each word leads to its command, put together with what it really works on."""

    @pytest.fixture(autouse=True)
    def _a_place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "home").mkdir()
        (tmp_path / "project").mkdir()
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.chdir(tmp_path / "project")

    def test_tools(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["tools", "list"]) == 0
        assert capsys.readouterr().out.startswith("NAME ")

    def test_policy(self, capsys: pytest.CaptureFixture[str]) -> None:
        words = ["policy", "explain", "run_shell_command", '{"command": "ls"}', "--json"]
        assert main([*words, "--allowed-tools", "ShellTool(ls)"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["decision"], told["rule"], told["source"]) == (
            "allow",
            "allow run_shell_command: ls",
            "--allowed-tools",
        )

    def test_undo(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["tools", "call", "write_file", "file_path=a", "content=x", "--yes"]) == 0
        capsys.readouterr()
        assert main(["undo", "list", "--json"]) == 0
        (entry,) = json.loads(capsys.readouterr().out)
        assert (entry["tool"], entry["what"]) == ("write_file", "a")
        assert main(["undo", "--last", "1", "--yes"]) == 0
        assert os.listdir() == []

    def test_jobs(self, capsys: pytest.CaptureFixture[str]) -> None:
        words = ["run_shell_command", "command=echo there; sleep 60", "is_background=true", "--yes", "--sandbox", "off"]
        assert main(["tools", "call", *words]) == 0
        capsys.readouterr()
        assert main(["jobs", "list", "--json"]) == 0
        (job,) = json.loads(capsys.readouterr().out)
        assert main(["jobs", "stop", str(job["pid"])]) == 0
        assert (job["command"], job["state"]) == ("echo there; sleep 60", "running")
        capsys.readouterr()
        assert main(["jobs", "list", "--json"]) == 0
        assert [found["state"] for found in json.loads(capsys.readouterr().out)] != ["running"]

    def test_doctor(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["doctor", "--sandbox", "off"]) == 0
        words = capsys.readouterr().out.split()
        assert " ".join(words).startswith("sandbox NO in use NO SANDBOX: the sandbox is turned off. ")

    def test_every_command_is_in_the_help_and_has_its_own(self) -> None:
        commands = [row.label for row in run_page().sections[0].rows]
        assert sorted(commands) == sorted({*NAMES} - RESERVED)
        for command in dict.fromkeys(commands):
            if command not in {"help", "version"}:
                done = tejat(command, "--help")
                assert (done.returncode, done.stderr) == (0, b"")
                assert done.stdout.startswith(f"usage: tejat {command}".encode())

    def test_every_flag_is_in_the_help(self) -> None:
        flags = {*re.findall(r"(?<![^ ])--[a-z-]+", help_text())} - {"--no-"}
        assert flags == {*FLAGS, "--skip-trust"}
        letters = {*re.findall(r"(?<![^ ])-([a-zA-Z])\b", help_text())}
        assert letters == {*SHORT_FLAGS} - {"V"}

    @pytest.mark.parametrize(
        "command", ["demo", "tools", "policy", "undo", "jobs", "trust", "mcp", "doctor", "sessions", "hooks"]
    )
    def test_nonsense_is_bad_usage_in_each_of_them(self, command: str) -> None:
        done = tejat(command, "nonsense\x1b[2J")
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"Traceback" not in done.stderr
        assert b"tejat" in done.stderr

    @pytest.mark.parametrize(
        "words", [["policy", "list"], ["undo"], ["jobs"], ["mcp", "list"], ["doctor", "--sandbox", "off"]]
    )
    def test_a_full_disk_is_said_and_is_a_failure(self, words: list[str]) -> None:
        done = shell(f'"$@" {" ".join(words)} > /dev/full')
        assert (done.returncode, done.stderr) == (1, b"tejat: No space left on device\n")


class TestProcess:
    def test_the_module_is_the_program(self) -> None:
        done = tejat("--version")
        assert (done.returncode, done.stdout, done.stderr) == (0, f"tejat {__version__}\n".encode(), b"")

    def test_the_console_script_is_the_program(self) -> None:
        script = Path(sys.executable).with_name("tejat")
        done = subprocess.run([script, "--version"], capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"tejat {__version__}\n".encode(), b"")

    @pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
    def test_the_locale_does_not_matter(self, locale: str) -> None:
        done = tejat("--grüße\u202e", LC_ALL=locale, PYTHONIOENCODING="ascii")
        assert done.returncode == 42
        assert done.stderr.decode().startswith("tejat: Unknown flag --grüße<U+202E>.\n")

    def test_a_word_that_is_not_text_is_no_crash(self) -> None:
        words = [*TEJAT, b"--\xff\xfe"]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (42, b"")
        assert done.stderr.startswith(b"tejat: Unknown flag --<U+DCFF><U+DCFE>.\n")

    def test_threads_that_are_left_behind_do_not_keep_it(self) -> None:
        code = (
            "import sys, threading, time; from tejat.cli.main import program; sys.argv = ['tejat', '--version']; "
            "threading.Thread(target=time.sleep, args=[300]).start(); program()"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=30, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"tejat {__version__}\n".encode(), b"")


class TestLostOutput:
    def test_a_full_disk_is_said_and_is_a_failure(self) -> None:
        done = shell('"$@" --help > /dev/full')
        assert (done.returncode, done.stderr) == (1, b"tejat: No space left on device\n")

    def test_a_full_disk_during_a_command_is_said_too(self) -> None:
        done = shell('"$@" tools list > /dev/full')
        assert (done.returncode, done.stderr) == (1, b"tejat: No space left on device\n")

    @pytest.mark.parametrize("words", ["--version", "--help", "tools list", "tools list --json"])
    def test_closed_output_is_a_failure(self, words: str) -> None:
        done = shell(f'"$@" {words} >&-')
        assert (done.returncode, done.stderr) == (1, b"tejat: Bad file descriptor\n")

    def test_closed_error_output_is_no_crash_and_changes_no_code(self) -> None:
        assert shell('"$@" --nonsense 2>&-').returncode == 42
        assert shell('"$@" --version 2>&-').returncode == 0

    def test_everything_closed(self) -> None:
        assert shell('"$@" --version <&- >&- 2>&-').returncode == 1
        assert shell('"$@" --nonsense <&- >&- 2>&-').returncode == 42

    @pytest.mark.parametrize("words", ["--help", "tools list", "tools list --json"])
    def test_a_reader_that_left_is_no_crash(self, words: str) -> None:
        done = shell(f'{{ sleep 0.1; "$@" {words}; echo $? >&2; }} | true')
        assert done.stderr == b"141\n"

    def test_a_reader_that_leaves_after_the_first_line(self) -> None:
        done = shell('"$@" tools list | head -1')
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.startswith(b"NAME ")


def test_nothing_is_imported_from_the_current_directory(tmp_path: Path) -> None:
    """A project could hold modules with the names of ours, or a command could have written them."""
    for name in ("argparse", "asyncio", "rich", "h11", "json", "tempfile"):
        (tmp_path / f"{name}.py").write_text("import sys\nsys.exit('imported')\n")
    done = subprocess.run([*TEJAT, "doctor", "--json"], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
