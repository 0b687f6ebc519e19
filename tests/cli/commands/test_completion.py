"""Completion scripts, run by the shells they are for."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tejat.cli.commands.completion import FILE_FLAGS, FLAG_VALUES
from tejat.cli.flags import FLAGS
from tejat.cli.main import main
from tejat.cli.subcommands import NAMES


@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> Path:
    assert main(["completion", request.param]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    path = tmp_path / "script"
    path.write_text(printed.out)
    return path


def run_shell(*words: str | Path) -> list[str]:
    done = subprocess.run([*words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


CASES = [
    (["se"], ["sessions"]),
    (["sessions", ""], ["delete", "export", "import", "list", "show"]),
    (["sessions", "im"], ["import"]),
    (["session", "im"], []),
    (["hook", "l"], ["list"]),
    (["help", "unk"], []),
    (["help", "und"], ["undo"]),
    (["policy", "list", "--al"], ["--all", "--allowed-tools"]),
    (["jobs", "--li"], ["--lines"]),
    (["--approval-mode", ""], ["auto_edit", "default", "plan", "yolo"]),
    (["-o", "j"], ["json"]),
    (["-m", "x", "--sess"], ["--session-file", "--session-id"]),
    (["completion", "z"], ["zsh"]),
]


@pytest.mark.parametrize("script", ["bash"], indirect=True)
class TestBash:
    def complete(self, script: Path, words: list[str]) -> list[str]:
        line = 'source "$0"; COMP_WORDS=("tejat" "$@"); COMP_CWORD=$#; _tejat; printf "%s\\n" "${COMPREPLY[@]}"'
        return sorted(run_shell("bash", "--norc", "-c", line, script, *words))

    @pytest.mark.parametrize(("words", "found"), CASES)
    def test_words(self, script: Path, words: list[str], found: list[str]) -> None:
        assert self.complete(script, words) == found

    def test_names_and_flags(self, script: Path) -> None:
        assert self.complete(script, [""]) == sorted(NAMES)
        assert {*self.complete(script, ["hi", "--"])} == FLAGS

    def test_a_value_after_an_equals_sign(self, script: Path) -> None:
        assert self.complete(script, ["--sandbox", "=", "doc"]) == ["docker"]
        assert self.complete(script, ["--output-format", "="]) == ["json", "stream-json", "text"]

    def test_files(self, script: Path) -> None:
        assert self.complete(script, ["--session-file", str(script)[:-2]]) == [str(script)]
        assert self.complete(script, ["--include-directories", str(script.parent)]) == [str(script.parent)]
        assert self.complete(script, ["-p", ""]) == []

    def test_it_is_registered(self, script: Path) -> None:
        assert "_tejat" in run_shell("bash", "--norc", "-c", 'source "$0"; complete -p tejat', script)


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
@pytest.mark.parametrize("script", ["fish"], indirect=True)
@pytest.mark.parametrize(("words", "found"), CASES)
def test_fish(script: Path, words: list[str], found: list[str]) -> None:
    line = "source $argv[1]; mkdir $argv[1].empty; cd $argv[1].empty; complete -C $argv[2]"
    assert sorted(run_shell("fish", "--no-config", "-c", line, script, " ".join(["tejat", *words]))) == found


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh_accepts_it(script: Path) -> None:
    assert run_shell("zsh", "-f", "-n", script) == []


@pytest.mark.parametrize("words", [[], ["bash", "zsh"]])
def test_bad_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", *words]) == 2
    assert capsys.readouterr().err.startswith("tejat: `tejat completion` takes bash, zsh or fish.\nusage: ")


def test_every_flag_with_values_is_a_flag() -> None:
    assert {*FLAG_VALUES, *FILE_FLAGS} <= FLAGS
