"""`tejat tools`: what may be said there, and the list of the tools."""

import json
import os
import re
from pathlib import Path

import pytest

from support.tools_program import printed_object, run_tools
from tejat.cli.tools.main import run

NAMES = [
    "list_directory",
    "read_file",
    "search_file_content",
    "glob",
    "replace",
    "write_file",
    "read_many_files",
    "run_shell_command",
    "list_background_processes",
    "read_background_output",
    "stop_background_process",
    "save_memory",
    "web_fetch",
    "google_web_search",
    "ask_user",
    "write_todos",
    "enter_plan_mode",
    "exit_plan_mode",
]


class TestList:
    def test_a_table_for_people(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["list"]) == 0
        header, *rows, _, total = capsys.readouterr().out.splitlines()
        assert header.split() == ["NAME", "SHOWN", "AS", "KIND", "SOURCE", "TOKENS", "DESCRIPTION"]
        assert [row.split()[:3] for row in rows][:14] == [
            ["list_directory", "ReadFolder", "search"],
            ["read_file", "ReadFile", "read"],
            ["search_file_content", "SearchText", "search"],
            ["glob", "FindFiles", "search"],
            ["replace", "Edit", "edit"],
            ["write_file", "WriteFile", "edit"],
            ["read_many_files", "ReadManyFiles", "read"],
            ["run_shell_command", "Shell", "execute"],
            ["list_background_processes", "ListBackgroundProcesses", "read"],
            ["read_background_output", "ReadBackgroundOutput", "read"],
            ["stop_background_process", "StopBackgroundProcess", "execute"],
            ["save_memory", "SaveMemory", "think"],
            ["web_fetch", "WebFetch", "fetch"],
            ["google_web_search", "GoogleSearch", "search"],
        ]
        cells = [re.split(r"  +", row.strip()) for row in rows]
        assert {name for name, *_ in cells} >= {"ask_user", "write_todos"}
        assert "get_internal_docs" not in {name for name, *_ in cells}
        assert all(row[3] == "built-in" and len(row) == 6 for row in cells)
        tokens = sum(int(row[4].replace(",", "")) for row in cells)
        assert total == f"{len(rows)} tools, about {tokens:,} tokens in every request that declares all of them"
        assert tokens > 1_000

    def test_the_declarations_for_a_model(self, workspace: Path) -> None:
        done = run_tools("list", "--json", cwd=workspace)
        assert (done.returncode, done.stderr) == (0, b"")
        declared = json.loads(done.stdout)
        assert [declaration["name"] for declaration in declared] == NAMES
        for declaration in declared:
            assert list(declaration) == ["name", "description", "parametersJsonSchema"]
            assert declaration["description"]
            schema = declaration["parametersJsonSchema"]
            assert list(schema) == ["type", "properties", "required"]
            assert schema["type"] == "object"
            assert set(schema["required"]) <= set(schema["properties"])


class TestWords:
    @pytest.mark.parametrize(
        "order",
        [
            ["--json", "read_file", "PATH"],
            ["read_file", "--json", "PATH"],
            ["read_file", "PATH", "--json"],
            ["read_file", "--root", ".", "PATH", "--json"],
            ["read_file", "PATH", "--json", "limit=2"],
        ],
    )
    def test_options_may_stand_anywhere(self, workspace: Path, order: list[str]) -> None:
        path = f"path={workspace}/a.txt"
        done = run_tools("call", *(path if word == "PATH" else word for word in order), cwd=workspace)
        assert (done.returncode, done.stderr) == (0, b"")
        assert printed_object(done)["name"] == "read_file"

    @pytest.mark.parametrize(
        "words",
        [
            ["call"],
            ["call", "read_file", "a.txt"],
            ["call", "read_file", "{"],
            ["call", "read_file", "[]"],
            ["call", "read_file", "limit=many"],
            ["call", "read_file", "--unheard-of"],
            ["call", "read_file", "--root"],
            ["call", "read_file", "--root", "missing", "path=a.txt"],
            ["call", "read_file", "--root", "a.txt", "path=a.txt"],
            ["call", "--jsonl", "read_file"],
            ["call", "read_file", "path=a.txt", "--approval-mode", "autoEdit"],
            ["call", "read_file", "path=a.txt", "--sandbox", "maybe"],
            ["call", "read_file", "path=a.txt", "--allowed-tools", "write_file(x)"],
            ["call", "read_file", "path=a.txt", "--allowed-tools"],
            ["unheard_of"],
            [],
            ["list", "more"],
        ],
    )
    def test_bad_usage(self, workspace: Path, words: list[str]) -> None:
        done = run_tools(*words, cwd=workspace)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"tejat" in done.stderr
        assert b"Traceback" not in done.stderr

    def test_no_message_can_command_the_terminal(self, workspace: Path) -> None:
        (workspace / ".gemini").mkdir()
        (workspace / ".gemini" / "settings.json").write_text('{"excludeTools": ["\\u001b[2J("]}')
        done = run_tools("call", "read_file", "path=a.txt", cwd=workspace)
        assert (done.returncode, done.stdout) == (52, b"")
        assert b"\x1b" not in done.stderr
        assert b"tools.exclude" in done.stderr
        root = run_tools("call", "read_file", "path=a.txt", "--root", "a\x1b[2J", cwd=workspace.parent)
        assert (root.returncode, root.stdout) == (2, b"")
        assert b"a<U+001B>[2J" in root.stderr

    @pytest.mark.parametrize("words", [["--help"], ["list", "--help"], ["call", "--help"]])
    def test_help(self, workspace: Path, words: list[str]) -> None:
        done = run_tools(*words, cwd=workspace)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.startswith(b"usage: tejat tools")


WRITE = ["write_file", "file_path=new.txt", "content=x"]
LOOK = ["run_shell_command", "command=ls"]
MAKE = ["run_shell_command", "command=touch new.txt"]
SECRET = ["run_shell_command", "command=touch .bashrc"]


class TestFlags:
    """What they let run where nobody can be asked: 0 done, 3 not allowed."""

    @pytest.mark.parametrize(
        ("words", "code"),
        [
            (WRITE, 3),
            ([*WRITE, "--allowed-tools", "write_file"], 0),
            ([*WRITE, "--allowed-tools", "glob,WriteFileTool"], 0),
            ([*WRITE, "--allowed-tools", "replace"], 3),
            ([*WRITE, "--approval-mode", "default"], 3),
            ([*WRITE, "--approval-mode", "auto_edit"], 0),
            ([*WRITE, "--approval-mode", "yolo"], 0),
            ([*WRITE, "--approval-mode", "plan", "--allowed-tools", "write_file"], 3),
            ([*WRITE, "--approval-mode", "plan", "--yes"], 3),
            (MAKE, 3),
            ([*MAKE, "--allowed-tools", "run_shell_command(touch)"], 0),
            ([*MAKE, "--allowed-tools", "run_shell_command(rm)", "--allowed-tools", "ShellTool(touch)"], 0),
            ([*MAKE, "--allowed-tools", "run_shell_command(touch a)"], 3),
            ([*MAKE, "--approval-mode", "auto_edit"], 3),
            ([*MAKE, "--approval-mode", "yolo"], 0),
            ([*MAKE, "--approval-mode", "plan", "--yes"], 3),
            ([*SECRET, "--approval-mode", "yolo", "--allowed-tools", "run_shell_command"], 3),
        ],
    )
    def test_what_runs(self, workspace: Path, words: list[str], code: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(workspace)
        assert run(["call", *words, "--sandbox", "off"]) == code
        assert sorted(os.listdir(workspace)) == ["a.txt", "inner", *(["new.txt"] if code == 0 else [])]

    def test_a_stream_takes_them_too(self, workspace: Path) -> None:
        call = b'{"name": "write_file", "args": {"file_path": "new.txt", "content": "x"}}\n'
        refused = run_tools("call", "--jsonl", cwd=workspace, given=call)
        assert json.loads(refused.stdout)["error"]["type"] == "policy_violation"
        allowed = run_tools("call", "--jsonl", "--allowed-tools", "write_file", cwd=workspace, given=call)
        assert json.loads(allowed.stdout)["error"] is None
        assert (workspace / "new.txt").read_text() == "x"

    def test_a_sandbox_that_is_required_and_not_to_be_had(self, workspace: Path) -> None:
        """Where the whole system is the workspace there is nothing to fence off."""
        reading = ["read_file", f"path={workspace}/a.txt", "--root", "/"]
        done = run_tools("call", *reading, "--sandbox", "required", cwd=workspace)
        assert (done.returncode, done.stdout) == (44, b"")
        assert done.stderr.startswith(b"tejat: A sandbox is required, but none works here (the workspace is /")
        stream = run_tools("call", "--jsonl", "--root", "/", "--sandbox", "required", cwd=workspace, given=b"{}\n")
        assert (stream.returncode, stream.stdout) == (44, b"")
        assert run_tools("call", *reading, "--sandbox", "auto", cwd=workspace).returncode == 0

    def test_a_sandbox_that_the_settings_require(self, workspace: Path) -> None:
        reading = ["read_file", f"path={workspace}/a.txt", "--root", "/"]
        assert run_tools("call", *reading, cwd=workspace, GEMINI_SANDBOX="true").returncode == 44
        assert run_tools("call", *reading, "--sandbox", "off", cwd=workspace, GEMINI_SANDBOX="true").returncode == 0

    def test_commands_learn_whether_they_are_locked_in(self, workspace: Path) -> None:
        def run_with_sandbox(wish: str) -> str:
            words = ["run_shell_command", 'command=echo "[$SANDBOX]"', "--yes", "--sandbox", wish]
            return run_tools("call", *words, cwd=workspace).stdout.decode()

        assert "[]" in run_with_sandbox("off")
        done = run_tools("call", *LOOK, "--yes", "--sandbox", "required", cwd=workspace)
        if done.returncode == 44:
            pytest.skip(f"SANDBOX MISSING: {done.stderr.decode()}")
        assert "[bubblewrap]" in run_with_sandbox("required") or "[landlock]" in run_with_sandbox("required")
