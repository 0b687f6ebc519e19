"""Completion scripts, run by the shells they are for."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.program import ProgramEnv, text_script
from tejat.cli.completion.grammar import read_grammar
from tejat.cli.flags import FLAGS
from tejat.cli.main import main
from tejat.cli.subcommands import NAMES, RESERVED

BIN = Path(sys.executable).parent
HIDDEN = {*RESERVED}


@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> Path:
    assert main(["completion", request.param]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    path = tmp_path / "script"
    path.write_text(printed.out)
    return path


def run_shell(*words: str | Path, cwd: Path | None = None, home: Path | None = None) -> list[str]:
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    if home is not None:
        environment["HOME"] = str(home)
    done = subprocess.run(
        [*words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=cwd,
        env=environment,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


CASES = [
    ("se", ["sessions"]),
    (
        "sessions ",
        ["answer", "delete", "import", "list", "resume", "search", "send", "show", "stats", "stop"],
    ),
    ("export latest a --h", ["--help", "--html"]),
    ("sessions im", ["import"]),
    ("session im", []),
    ("hook l", ["list"]),
    ("help unk", []),
    ("help und", ["undo"]),
    ("policy list --al", ["--allowed-tools"]),
    ("policy revoke --al", ["--all"]),
    ("jobs --li", ["--lines"]),
    ("--approval-mode ", ["auto_edit", "default", "plan", "yolo"]),
    ("tools call --approval-mode p", ["plan"]),
    ("mcp add --scope u", ["user"]),
    ("models --service o", ["ollama", "openai"]),
    ("-o j", ["json"]),
    ("-m x --sess", ["--session-file", "--session-id", "--session-server"]),
    ("completion z", ["zsh"]),
    ("-m gemini-2.5-p", ["gemini-2.5-pro"]),
    ("tools call read_f", ["read_file"]),
    ("policy explain glo", ["glob"]),
    ("docs poli", ["policy"]),
    ("-p ", []),
]
# A list continues after a comma, and a shell splits or keeps a colon in its own way.
LISTS = [("--exclude-tools glob,read_f", ["glob,read_file"])]


@pytest.mark.parametrize("script", ["bash"], indirect=True)
class TestBash:
    LINE = (
        'source "$0"; COMP_LINE="$1"; COMP_POINT=${#1}; _tejat; '
        '((${#COMPREPLY[@]})) && printf "%s\\n" "${COMPREPLY[@]}"; :'
    )

    def complete(self, script: Path, line: str, **place: Path) -> list[str]:
        return sorted(run_shell("bash", "--norc", "-c", self.LINE, script, f"tejat {line}", **place))

    def test_words(self, script: Path) -> None:
        assert {line: self.complete(script, line) for line, _found in CASES + LISTS} == dict(CASES + LISTS)

    def test_names_and_flags(self, script: Path) -> None:
        assert self.complete(script, "") == sorted({*NAMES} - HIDDEN)
        assert {*self.complete(script, "hi --")} == {*FLAGS, "--skip-trust"}

    def test_a_value_after_an_equals_sign(self, script: Path) -> None:
        assert self.complete(script, "--sandbox=doc") == ["docker"]
        assert self.complete(script, "--output-format=") == ["json", "stream-json", "text"]

    def test_a_model_with_a_provider_is_completed_behind_the_colon(self, script: Path) -> None:
        found = self.complete(script, "-m anthropic:claude-opus-4-8")
        assert found
        assert all(model.startswith("claude-opus-4-8") for model in found)

    def test_files(self, script: Path) -> None:
        assert self.complete(script, f"--session-file {str(script)[:-2]}") == [str(script)]
        assert self.complete(script, f"--include-directories {script.parent}") == [str(script.parent)]

    def test_it_is_registered(self, script: Path) -> None:
        assert "_tejat" in run_shell("bash", "--norc", "-c", 'source "$0"; complete -p tejat', script)[0].split()

    def test_sessions_and_servers_of_this_place(self, script: Path, tmp_path: Path) -> None:
        machine = ProgramEnv(tmp_path)
        session = machine.run("-p", "hi", "-m", machine.script(text_script("Hello.")), "-o", "json").json["session_id"]
        assert machine.run("mcp", "add", "-s", "user", "notes", "python", "notes.py").code == 0
        before = sorted(machine.base.rglob("*"))
        place = {"cwd": machine.project, "home": machine.home}
        for line in ("--resume ", "sessions show ", "sessions delete "):
            assert self.complete(script, line, **place) == sorted([session, "latest"])
        assert self.complete(script, "mcp test no", **place) == ["notes"]
        assert self.complete(script, "--allowed-mcp-server-names ", **place) == ["notes"]
        assert sorted(machine.base.rglob("*")) == before


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
@pytest.mark.parametrize("script", ["fish"], indirect=True)
def test_fish(script: Path) -> None:
    # One fish for all lines, in an empty directory, whose files would be candidates too.
    code = (
        "source $argv[1]; mkdir $argv[1].empty; cd $argv[1].empty; "
        'for line in $argv[2..]; echo "> $line"; complete -C "tejat $line"; end'
    )
    lines = run_shell("fish", "--no-config", "-c", code, script, *(line for line, _found in CASES + LISTS))
    found: dict[str, list[str]] = {}
    current = list[str]()
    for line in lines:
        if line.startswith("> "):
            current = found[line[2:]] = []
        else:
            current.append(line.partition("\t")[0])
    assert {line: sorted(words) for line, words in found.items()} == dict(CASES + LISTS)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh(script: Path) -> None:
    """The completion system runs in a terminal of zsh's own; every match is recorded by a wrapper of `compadd`."""
    wanted = [line for line, _found in CASES + LISTS]
    code = (Path(__file__).parent / "zsh_driver.zsh").read_text()
    lines = run_shell("zsh", "-f", "-c", code, "zsh", script, *wanted)
    found: dict[str, set[str]] = {line: set() for line in wanted}
    current = ""
    for line in lines:
        if line.startswith("> "):
            current = line[2:]
        elif line.strip():
            found[current].add(line)
    assert {line: sorted(words) for line, words in found.items()} == dict(CASES + LISTS)


@pytest.mark.parametrize("words", [[], ["bash", "zsh"]])
def test_bad_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", *words]) == 2
    assert capsys.readouterr().err.endswith("Run `tejat completion --help` for usage.\n")


def test_a_misspelled_shell_is_not_sent_to_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bsh"]) == 2
    assert "Did you mean bash?" in capsys.readouterr().err


def test_every_flag_of_a_run_is_completed() -> None:
    assert {name for flag in read_grammar().flags for name in flag.names if name.startswith("--")} >= FLAGS


@pytest.mark.parametrize("kind", ["models", "sessions", "tools", "servers", "pages"])
def test_values_come_quickly(kind: str, tmp_path: Path) -> None:
    """The limit is 150 ms on an idle machine, and generous here."""
    machine = ProgramEnv(tmp_path)
    began = time.process_time(), time.perf_counter()
    usage_before = os.times().children_user + os.times().children_system
    done = machine.run("__complete", kind, "")
    seconds = os.times().children_user + os.times().children_system - usage_before
    assert (done.code, done.stderr) == (0, "")
    assert seconds < 0.5, (seconds, time.perf_counter() - began[1])


def test_an_unknown_kind_is_bad_usage() -> None:
    assert main(["__complete", "nonsense"]) == 2
