"""Rules against real programs: what git runs by itself, links, and names that nothing has."""

import asyncio
import json
import os
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tejat.app.inspection.openers import open_undo
from tejat.app.tools.open_tools import open_tools
from tejat.core.approval.modes import ModeName
from tejat.core.errors import ErrorType
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult

SHELL = "run_shell_command"


class Machine:
    """A home and a repository whose settings run programs that leave a mark."""

    def __init__(self, base: Path) -> None:
        self.home, self.project = base / "home", base / "project"
        for directory in (self.home, self.project):
            directory.mkdir()
        self.environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
        self.git("init", "-q")
        (self.project / "f").write_text("one\n")
        self.git("add", "f")
        self.git("-c", "user.name=n", "-c", "user.email=n@x", "commit", "-qm", "one")

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.project, env=self.environment, check=True, capture_output=True)

    def program(self, name: str) -> str:
        """A program outside the project that leaves a mark."""
        path = self.home / name
        path.write_text(f"#!/bin/sh\necho > {self.home}/MARK-{name}\ncat\n")
        path.chmod(0o755)
        return str(path)

    @property
    def marks(self) -> list[str]:
        return sorted(path.name for path in self.home.glob("MARK-*"))

    def run(self, command: str, allowed: Sequence[str] = (), mode: ModeName | None = None) -> ToolResult:
        with open_tools(
            [str(self.project)], None, allowed_tools=allowed, mode=mode, sandbox="off", environment=self.environment
        ) as tools:
            return asyncio.run(tools.scheduler.run(FunctionCall(SHELL, {"command": command})))

    def notes(self, allowed: Sequence[str] = ()) -> tuple[str, ...]:
        with open_tools([str(self.project)], None, allowed_tools=allowed, environment=self.environment) as tools:
            return tools.notes


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path.resolve())


STATUS = ["run_shell_command(git status)", "run_shell_command(git diff)", "run_shell_command(cat)"]


class TestGit:
    def test_reading_runs_neither_the_file_monitor_nor_a_hook(self, machine: Machine) -> None:
        machine.git("config", "core.fsmonitor", machine.program("monitor"))
        hook = Path(machine.program("hook"))
        hook.rename(machine.project / ".git" / "hooks" / "post-index-change")
        os.utime(machine.project / "f", (1, 1))
        for command in ("git status --short", "git diff", "git status && cat f", "timeout 9 git status | cat -n"):
            result = machine.run(command, STATUS, mode="yolo")
            assert result.error is None, result
        assert machine.marks == []

    def test_a_commit_still_runs_its_hooks(self, machine: Machine) -> None:
        Path(machine.program("hook")).rename(machine.project / ".git" / "hooks" / "pre-commit")
        machine.run("git -c user.name=n -c user.email=n@x commit -qm two --allow-empty", mode="yolo")
        assert machine.marks == ["MARK-hook"]

    @pytest.mark.parametrize(
        "key", ["diff.external", "diff.x.textconv", "filter.x.clean", "gpg.program", "include.path"]
    )
    def test_other_settings_that_run_programs_ask(self, machine: Machine, key: str) -> None:
        assert machine.run("git diff", STATUS).error is None
        machine.git("config", key, machine.program("other"))
        (machine.project / ".gitattributes").write_text("f diff=x filter=x\n")
        (machine.project / "f").write_text("two\n")
        result = machine.run("git diff", STATUS)
        assert result.error is not None
        assert result.error.type is ErrorType.POLICY_VIOLATION
        assert machine.marks == []

    def test_what_git_does_can_be_undone(self, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        """The user's own settings may run a program that changes files."""
        monkeypatch.setenv("HOME", str(machine.home))
        writer = machine.home / "writer"
        writer.write_text(f"#!/bin/sh\necho two > {machine.project}/f\n")
        writer.chmod(0o755)
        machine.git("config", "--global", "diff.external", str(writer))
        (machine.project / "f").write_text("dirty\n")
        machine.run("git diff", STATUS)
        assert (machine.project / "f").read_text() == "two\n"
        with closing(open_undo([str(machine.project)])) as undo:
            assert [entry.tool for entry in undo.entries()] == [SHELL]


class TestLinks:
    def test_nothing_is_written_through_a_link(self, machine: Machine) -> None:
        (machine.project / "o").symlink_to(machine.home)
        for command in ("touch o/x", "cp f o/x", "cat f > o/x", "tee o/x"):
            allowed = [f"run_shell_command({name})" for name in ("touch", "cp", "cat", "tee")]
            result = machine.run(command, allowed)
            assert result.error is not None
            assert result.error.type is ErrorType.POLICY_VIOLATION
        assert not (machine.home / "x").exists()


def test_rules_for_tools_that_do_not_exist_are_reported(machine: Machine) -> None:
    assert machine.notes(["read_file", "mcp_*"]) == ()
    assert machine.notes(["read_flie", "nowhere__t"]) == (
        "allowed_tools: unknown tool 'read_flie', so `allow read_flie` never applies.",
        "allowed_tools: unknown MCP server 'nowhere', so `allow t of server nowhere` never applies.",
    )


@pytest.mark.parametrize(
    ("names", "servers", "unknown"),
    [
        (["WriteFileTool", "read_file", "run_shell_command(git push)"], {}, []),
        (["WriteFile", "read_file"], {}, ["WriteFile"]),
        (["their_tool"], {"theirs": {"command": "x"}}, []),
    ],
)
def test_excluded_tools_that_do_not_exist_are_reported(
    machine: Machine, names: list[str], servers: dict[str, object], unknown: list[str]
) -> None:
    path = machine.home / ".gemini" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"tools": {"exclude": names}, "mcpServers": servers}))
    source = f"{path}:1 (tools.exclude)"
    told = [f"{source}: unknown tool '{name}', so `deny {name}` never applies." for name in unknown]
    assert list(machine.notes([])) == told
