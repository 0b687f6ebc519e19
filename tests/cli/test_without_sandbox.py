"""A missing sandbox is said, once, by everything that runs commands without asking."""

from pathlib import Path

import pytest

from support.program import ProgramEnv
from support.without_sandbox import run_without_sandbox

TWO_COMMANDS = """
[[answer]]
[[answer.call]]
name = "run_shell_command"
args = { command = "true" }

[[answer]]
[[answer.call]]
name = "run_shell_command"
args = { command = "true" }

[[answer]]
say = "Done."
"""
CALL = ("tools", "call", "--yes", "run_shell_command", "command=echo out")


@pytest.fixture
def env(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def warnings(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if "NO SANDBOX" in line]


def test_one_call(env: ProgramEnv) -> None:
    done = run_without_sandbox(env, *CALL)
    assert (done.code, "Stdout: out" in done.stdout) == (0, True)
    (line,) = done.stderr.splitlines()
    assert line.startswith("tejat: NO SANDBOX: commands run with all your permissions. Reason: ")
    assert "pipx install" in line


def test_a_headless_run(env: ProgramEnv) -> None:
    done = run_without_sandbox(env, "-y", "-m", env.script(TWO_COMMANDS), "-p", "Do it.")
    assert (done.code, done.stdout) == (0, "Done.\n")
    assert len(warnings(done.stderr)) == 1


def test_a_tool_that_runs_no_command(env: ProgramEnv) -> None:
    assert run_without_sandbox(env, "tools", "call", "list_directory", "path=tejat").stderr == ""


def test_somebody_who_switched_it_off_knows(env: ProgramEnv) -> None:
    done = run_without_sandbox(env, *CALL, "--sandbox", "off")
    assert (done.code, done.stderr) == (0, "")


def test_the_doctor(env: ProgramEnv) -> None:
    done = run_without_sandbox(env, "doctor")
    lines = done.stdout.splitlines()
    assert lines[0] == "sandbox"
    assert lines[1].split()[:5] == ["NO", "in", "use", "NO", "SANDBOX:"]
    assert lines[2] == "programs"
