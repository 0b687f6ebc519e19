"""The program around its commands: versions, help, lost output, interrupts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tejat import __version__
from tejat.cli.main import HELP, main

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
    @pytest.mark.parametrize("word", ["-V", "--version"])
    def test_the_version(self, word: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([word]) == 0
        assert capsys.readouterr() == (f"tejat {__version__}\n", "")

    @pytest.mark.parametrize("words", [[], ["-h"], ["--help"], ["--help", "tools"]])
    def test_help(self, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(words) == 0
        assert capsys.readouterr() == (HELP, "")

    @pytest.mark.parametrize("word", ["tool", "", "--nonsense"])
    def test_an_unknown_command_is_bad_usage(self, word: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([word]) == 2
        assert capsys.readouterr() == ("", f"tejat: there is no command {word!r}. `tejat --help` lists them.\n")

    def test_the_words_come_from_the_process_by_default(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(sys, "argv", ["tejat", "--version"])
        assert main() == 0
        assert capsys.readouterr().out == f"tejat {__version__}\n"


class TestProcess:
    def test_the_module_is_the_program(self) -> None:
        done = tejat("--version")
        assert (done.returncode, done.stdout, done.stderr) == (0, f"tejat {__version__}\n".encode(), b"")

    def test_the_console_script_is_the_program(self) -> None:
        script = Path(sys.executable).with_name("tejat")
        done = subprocess.run([script, "--version"], capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"tejat {__version__}\n".encode(), b"")

    def test_bad_usage(self) -> None:
        done = tejat("nonsense")
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.startswith(b"tejat: there is no command 'nonsense'.")

    @pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
    def test_the_locale_does_not_matter(self, locale: str) -> None:
        done = tejat("grüße\u202e", LC_ALL=locale, PYTHONIOENCODING="ascii")
        assert done.returncode == 2
        assert done.stderr.decode().startswith("tejat: there is no command 'grüße\\u202e'.")

    def test_a_word_that_is_not_text_is_bad_usage_and_no_crash(self) -> None:
        done = subprocess.run([*TEJAT, b"\xff\xfe"], capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.startswith(b"tejat: there is no command")

    def test_no_message_can_command_the_terminal(self) -> None:
        assert b"\x1b" not in tejat("\x1b[2J").stderr


class TestLostOutput:
    def test_a_full_disk_is_said_and_is_a_failure(self) -> None:
        done = shell('"$@" --help > /dev/full')
        assert (done.returncode, done.stderr) == (1, b"tejat: No space left on device\n")

    def test_a_full_disk_during_a_command_is_said_too(self) -> None:
        done = shell('"$@" tools list > /dev/full')
        assert (done.returncode, done.stderr) == (1, b"tejat: No space left on device\n")

    @pytest.mark.parametrize("words", ["--version", "--help", "tools list", "tools list --json"])
    def test_closed_output_is_no_crash(self, words: str) -> None:
        done = shell(f'"$@" {words} >&-')
        assert b"Traceback" not in done.stderr
        assert done.returncode in (0, 1)

    def test_closed_error_output_is_no_crash_and_changes_no_code(self) -> None:
        assert shell('"$@" nonsense 2>&-').returncode == 2
        assert shell('"$@" --version 2>&-').returncode == 0

    def test_everything_closed(self) -> None:
        assert shell('"$@" --version <&- >&- 2>&-').returncode in (0, 1)
        assert shell('"$@" nonsense <&- >&- 2>&-').returncode == 2

    @pytest.mark.parametrize("words", ["--help", "tools list", "tools list --json"])
    def test_a_reader_that_left_is_no_crash(self, words: str) -> None:
        done = shell(f'{{ sleep 0.1; "$@" {words}; echo $? >&2; }} | true')
        assert done.stderr == b"141\n"

    def test_a_reader_that_leaves_after_the_first_line(self) -> None:
        done = shell('"$@" tools list | head -1')
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.startswith(b"NAME ")
