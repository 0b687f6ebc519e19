"""`run_shell_command`: parameters, results, background processes, limits, live output, cancellation."""

import asyncio
import os
import re
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.process_marks import is_alive, living_pids
from support.tool_results import failed_result, invalid_params_result, outside_workspace_result
from tejat.core.approval.confirmation import ExecConfirmation, InfoConfirmation
from tejat.core.approval.modes import SandboxMode
from tejat.core.errors import ErrorType
from tejat.core.frozen import replace
from tejat.core.tools.base import ToolContext, ToolError, ToolResult, validate_and_execute
from tejat.tools.run_shell_command import ShellTool
from tejat.workspace.context import Workspace
from tejat.workspace.jobs.store import JobStore
from tejat.workspace.processes.environment import child_environment
from tejat.workspace.processes.shell import ShellContext
from tejat.workspace.processes.supervisor_client import ProcessSupervisor
from tejat.workspace.sandbox.selection import select_sandbox
from tejat.workspace.sandbox.types import SandboxedCommand, SandboxPolicy
from tejat.workspace.text.encoding import detect_encoding
from tejat.workspace.text.terminal_text import render_terminal_text

PATH = "/usr/local/bin:/usr/bin:/bin"


@contextmanager
def open_shell(directory: Path, **changes: object) -> Iterator[ShellContext]:
    environment = child_environment({"PATH": PATH, "HOME": str(directory), "MY_SECRET_TOKEN": "s3cr3t"})
    shell = ShellContext(
        ProcessSupervisor(), JobStore(str(directory / "jobs")), environment, str(directory / "outputs")
    )
    try:
        yield replace(shell, **changes)  # pyright: ignore[reportArgumentType]
    finally:
        shell.close()
        for job in shell.jobs.list_jobs().jobs:
            shell.jobs.stop(job.pid)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[ShellContext]:
    with open_shell(tmp_path / "state") as shell:
        yield shell


@pytest.fixture
def tool(workspace: Workspace, shell: ShellContext) -> ShellTool:
    return ShellTool(workspace, shell)


def call(tool: ShellTool, command: str, context: ToolContext | None = None, **params: object) -> ToolResult:
    return asyncio.run(validate_and_execute(tool, {"command": command, **params}, context))


def call_all(tool: ShellTool, commands: list[str]) -> list[ToolResult]:
    """The results of these commands, all run at the same time."""

    async def main() -> list[ToolResult]:
        return await asyncio.gather(*(validate_and_execute(tool, {"command": command}) for command in commands))

    return asyncio.run(main())


def lines_of(result: ToolResult) -> dict[str, str]:
    """The nine parts by their names."""
    names = "Command|Directory|Stdout|Stderr|Error|Exit Code|Signal|Background PIDs|Process Group PGID"
    assert isinstance(result.llm_content, str)
    parts = re.split(rf"^({names}): ", result.llm_content, flags=re.MULTILINE)
    assert parts[0] == ""
    assert parts[1::2] == names.split("|")
    return {name: text.removesuffix("\n") for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def stdout_of(result: ToolResult) -> str:
    """Standard output alone, whole, of a command that printed nothing else."""
    assert isinstance(result.llm_content, str)
    told = result.llm_content.partition("\nStdout: ")[2].rpartition("\nStderr: ")[0]
    return "" if told == "(empty)" else told


def until(condition: Callable[[], bool], seconds: float = 3.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


async def happens(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


def test_what_it_is(tool: ShellTool) -> None:
    assert (tool.name, tool.display_name, tool.kind, tool.is_read_only) == (
        "run_shell_command",
        "Shell",
        "execute",
        False,
    )
    assert (tool.can_update_output, tool.is_output_markdown, tool.limits_own_output) == (True, False, True)


class TestChecks:
    @pytest.mark.parametrize("command", ["", " ", "\n\t "])
    def test_an_empty_command(self, tool: ShellTool, command: str) -> None:
        assert call(tool, command) == invalid_params_result("Command cannot be empty.")

    @pytest.mark.parametrize(
        ("params", "reason"),
        [
            ({"command": "a\0b"}, "Command cannot contain a NUL character."),
            ({"command": "echo \ud800"}, "Command contains lone surrogates, which cannot be encoded."),
            (
                {"command": ": " + "x" * 100_000},
                "Command is too long (100002 bytes, at most 100000). Write it to a file and run that.",
            ),
            ({"command": "true", "timeout": 3601}, "params/timeout must be <= 3600"),
            ({"command": "true", "timeout": 0}, "params/timeout must be >= 1"),
            ({"command": "true", "delay_ms": 60_001}, "params/delay_ms must be <= 60000"),
            (
                {"command": "true", "timeout": 5, "is_background": True},
                "params/timeout does not apply to background processes: stop them with stop_background_process.",
            ),
            ({"command": 3}, "params/command must be string"),
            ({}, "params must have required property 'command'"),
            ({"command": "true", "directory": "missing"}, "Directory must exist."),
            ({"command": "true", "directory": "file"}, "Directory must be a directory, not a file."),
        ],
    )
    def test_what_makes_no_sense(self, tool: ShellTool, root: Path, params: dict[str, object], reason: str) -> None:
        (root / "file").touch()
        assert asyncio.run(validate_and_execute(tool, params)) == invalid_params_result(reason)

    def test_a_directory_outside(self, tool: ShellTool, root: Path) -> None:
        (root / "out").symlink_to("/etc")
        assert call(tool, "touch mark", directory="/etc") == outside_workspace_result("/etc", root)
        assert call(tool, "touch mark", directory="../..") == outside_workspace_result("../..", root)
        assert call(tool, "touch mark", directory="out") == outside_workspace_result(root / "out", root)
        assert not os.path.lexists("/etc/mark")

    def test_a_directory_that_may_only_be_read_is_no_place_to_work_in(self, root: Path, shell: ShellContext) -> None:
        kept = root.parent / "kept"
        kept.mkdir()
        (root / "link").symlink_to(kept)
        with Workspace([root], for_reading=[kept]) as workspace:
            tool = ShellTool(workspace, shell)
            assert call(tool, "touch mark", directory=str(kept)) == outside_workspace_result(kept, root)
            assert call(tool, "touch mark", directory="link") == outside_workspace_result("link", root)
        assert list(kept.iterdir()) == []

    def test_the_description(self, tool: ShellTool, root: Path) -> None:
        (root / "sub").mkdir()
        assert tool.get_description({"command": "ls"}) == "ls"
        params = {"command": "ls", "directory": "sub", "description": "shows\nfiles"}
        assert tool.get_description(params) == "ls [in sub] (shows files)"
        assert tool.get_description({}) == "Model did not provide valid parameters for run shell command tool"


class TestResult:
    def test_everything_is_told(self, tool: ShellTool) -> None:
        command = "echo out; echo err >&2; echo $$ > pid; exit 3"
        result = call(tool, command)
        pid = call(tool, "cat pid").return_display
        assert result == ToolResult(
            f"Command: {command}\nDirectory: (root)\nStdout: out\n\nStderr: err\n\nError: (none)\nExit Code: 3\n"
            f"Signal: (none)\nBackground PIDs: (none)\nProcess Group PGID: {str(pid).strip()}",
            "out\nerr\n",
            exit_code=3,
        )

    def test_silence(self, tool: ShellTool) -> None:
        result = call(tool, "true")
        pid = lines_of(result)["Process Group PGID"]
        assert result == ToolResult(
            "Command: true\nDirectory: (root)\nStdout: (empty)\nStderr: (empty)\nError: (none)\nExit Code: 0\n"
            f"Signal: (none)\nBackground PIDs: (none)\nProcess Group PGID: {pid}",
            "",
            exit_code=0,
        )

    def test_codes_and_signals(self, tool: ShellTool) -> None:
        expected = {
            "exit 7": ("7", "(none)", "Command exited with code: 7"),
            "kill -9 $$": ("(none)", "SIGKILL", "Command terminated by signal: SIGKILL"),
            "kill -40 $$": ("(none)", "signal 40", "Command terminated by signal: signal 40"),
            "echo; exit 2": ("2", "(none)", "Command exited with code: 2"),
            "printf 'a'; printf 'b' >&2": ("0", "(none)", "a\nb"),
        }
        results = call_all(tool, list(expected))
        assert [result.error for result in results] == [None] * 5
        told = [lines_of(result) for result in results]
        assert {
            lines["Command"]: (lines["Exit Code"], lines["Signal"], result.return_display)
            for lines, result in zip(told, results, strict=True)
        } == expected

    def test_the_directory(self, tool: ShellTool, root: Path) -> None:
        (root / "sub").mkdir()
        (root / "link").symlink_to("sub")
        for directory in ("sub", f"{root}/sub", "./sub/.", "link"):
            for name in ("directory", "dir_path"):
                told = lines_of(call(tool, "pwd -P", **dict[str, Any]({name: directory})))
                assert (told["Directory"], told["Stdout"]) == (directory, f"{root}/sub\n")

    def test_the_line_reaches_bash_as_it_is(self, tool: ShellTool) -> None:
        expected = {
            "cat <<X\nhello\nX": "hello\n",
            "cat <<'X'\n$HOME\nX\n": "$HOME\n",
            "echo hi # a comment": "hi\n",
            "echo hi \\": "hi \\\n",
            "for i in 1 2\ndo\n  echo $i\ndone": "1\n2\n",
            "echo 'a > b' \"c < d\" '&' ';'": "a > b c < d & ;\n",
            "(exit 3) || echo $?": "3\n",
            "f() { echo $#; }; f 'a b' c": "2\n",
            "shopt -q login_shell && echo login; echo $0 $-": "/bin/bash hBc\n",
        }
        assert dict(zip(expected, map(stdout_of, call_all(tool, list(expected))), strict=True)) == expected

    def test_a_line_that_begins_like_an_option_is_still_a_line(self, tool: ShellTool) -> None:
        told = lines_of(call(tool, "-x echo hi"))
        assert (told["Stdout"], told["Exit Code"]) == ("(empty)", "127")
        assert told["Stderr"].endswith("-x: command not found\n")

    def test_what_the_command_sees(self, tool: ShellTool, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GEMINI_API_KEY", "k3y")
        printed = stdout_of(call(tool, "env"))
        assert "\nGEMINI_CLI=1\n" in f"\n{printed}"
        assert "\nPAGER=cat\n" in f"\n{printed}"
        assert "k3y" not in printed
        assert "s3cr3t" not in printed

    def test_a_directory_that_has_gone(self, tool: ShellTool, root: Path) -> None:
        (root / "sub").mkdir()
        params = tool.parse({"command": "touch mark", "directory": "sub"})
        (root / "sub").rmdir()
        result = asyncio.run(tool.run(params, ToolContext()))
        message = f"Directory not found: {root}/sub (command: touch mark)"
        assert result == ToolResult(
            "Command: touch mark\nDirectory: sub\nStdout: (empty)\nStderr: (empty)\n"
            f"Error: {message}\nExit Code: (none)\nSignal: (none)\nBackground PIDs: (none)\n"
            "Process Group PGID: (none)",
            f"Command failed: {message}",
            ToolError(message, ErrorType.SHELL_EXECUTE_ERROR),
        )

    def test_a_root_that_has_gone(self, tool: ShellTool, root: Path) -> None:
        root.rmdir()
        result = call(tool, "true")
        message = "Directory was deleted (command: true)"
        assert result.error == ToolError(message, ErrorType.SHELL_EXECUTE_ERROR)

    def test_what_cannot_be_started(self, workspace: Workspace, shell: ShellContext) -> None:
        cleaned: list[str] = []

        def wrap(_arguments: object, directory: str, _network: bool) -> SandboxedCommand:
            return SandboxedCommand(("/no/such/program",), lambda: cleaned.append(directory))

        tool = ShellTool(workspace, replace(shell, wrap=wrap))
        for background in (False, True):
            result = call(tool, "echo hi", is_background=background)
            message = "No such file or directory (command: echo hi)"
            assert result.error == ToolError(message, ErrorType.SHELL_EXECUTE_ERROR)
            assert result.return_display == f"Command failed: {message}"
        assert cleaned == [workspace.roots.paths[0]] * 2
        assert shell.jobs.list_jobs().jobs == ()


class TestDescendants:
    def test_a_background_process_is_named_and_lives_on(self, tool: ShellTool) -> None:
        began = time.monotonic()
        told = lines_of(call(tool, "sleep 60 & echo hi"))
        assert time.monotonic() - began < 20
        assert told["Stdout"] == "hi\n"
        pid = int(told["Background PIDs"])
        assert Path(f"/proc/{pid}/cmdline").read_bytes() == b"sleep\x0060\0"
        os.killpg(int(told["Process Group PGID"]), signal.SIGKILL)  # H5
        assert until(lambda: not is_alive(pid))

    def test_the_exit_code_survives_background_processes(self, tool: ShellTool) -> None:
        told = lines_of(call(tool, "sleep 60 & sleep 61 & exit 3"))
        assert told["Exit Code"] == "3"
        assert len(told["Background PIDs"].split(", ")) == 2

    def test_a_background_process_may_go_on_printing(self, tool: ShellTool, root: Path) -> None:
        async def main() -> ToolResult:
            line = "{ for i in 1 2 3 4 5 6; do head -c 300000 /dev/zero; sleep .05; done; echo over > done; } & echo hi"
            result = await validate_and_execute(tool, {"command": line})
            await happens((root / "done").exists)
            return result

        assert lines_of(asyncio.run(asyncio.wait_for(main(), 60)))["Exit Code"] == "0"

    def test_a_session_that_ends_takes_them_along(self, workspace: Workspace, tmp_path: Path) -> None:
        with open_shell(tmp_path / "other") as shell:
            told = lines_of(call(ShellTool(workspace, shell), "setsid sleep 60 & sleep 61 & echo hi"))
            pids = [int(pid) for pid in told["Background PIDs"].split(", ")]
            assert all(map(is_alive, pids))
        assert not any(map(is_alive, pids))

    @pytest.mark.parametrize(
        "line",
        [
            "sleep MARK & setsid sleep MARK & (setsid bash -c 'setsid sleep MARK &') ; trap '' TERM; echo up; wait",
            "trap '' TERM INT HUP; echo up; exec 1> >(tee f); sleep MARK",
            "echo up; env -i setsid sleep MARK",
        ],
    )
    def test_cancelling_leaves_nobody(self, tool: ShellTool, line: str) -> None:
        mark = f"{1000 + os.getpid()}.{time.monotonic_ns() % 10**6}"
        kept: list[ToolResult] = []
        shown: list[str] = []

        async def main() -> float:
            context = ToolContext(update_output=shown.append, keep_partial=kept.append)
            task = asyncio.create_task(validate_and_execute(tool, {"command": line.replace("MARK", mark)}, context))
            await happens(lambda: bool(shown and living_pids(mark)))
            began = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return time.monotonic() - began

        assert asyncio.run(main()) < 2
        assert living_pids(mark) == []
        assert kept == [
            ToolResult(
                "Command was cancelled by user before it could complete. Below is the output (on stdout and stderr) "
                "before it was cancelled:\nup\n",
                "up\n",
            )
        ]

    def test_cancelled_before_anything_was_printed(self, tool: ShellTool) -> None:
        kept: list[ToolResult] = []
        mark = f"{2000 + os.getpid()}.{time.monotonic_ns() % 10**6}"

        async def main() -> None:
            context = ToolContext(keep_partial=kept.append)
            task = asyncio.create_task(validate_and_execute(tool, {"command": f"true; sleep {mark}; true"}, context))
            await happens(lambda: bool(living_pids(mark)))
            await asyncio.sleep(0.3)  # for the word from its keeper that it has started
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        assert living_pids(mark) == []
        assert kept == [
            ToolResult(
                "Command was cancelled by user before it could complete. There was no output before it was cancelled.",
                "Command cancelled by user.",
            )
        ]

    def test_cancelled_before_it_could_start(self, workspace: Workspace, tmp_path: Path) -> None:
        kept: list[ToolResult] = []

        async def main(tool: ShellTool) -> None:
            context = ToolContext(keep_partial=kept.append)
            task = asyncio.create_task(tool.run(tool.parse({"command": "touch mark"}), context))
            await asyncio.sleep(0)  # its keeper takes some milliseconds to begin with
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        with open_shell(tmp_path / "other") as shell:
            asyncio.run(main(ShellTool(workspace, shell)))
        assert kept == [
            ToolResult("Command was cancelled by user before it could start.", "Command cancelled by user.")
        ]

    def test_whoever_keeps_it_may_be_killed(self, tool: ShellTool) -> None:
        shown: list[str] = []

        async def main() -> ToolResult:
            context = ToolContext(update_output=shown.append)
            task = asyncio.create_task(validate_and_execute(tool, {"command": "echo $PPID; sleep 50"}, context))
            await happens(lambda: bool(shown))
            os.kill(int(shown[0]), signal.SIGKILL)
            return await asyncio.wait_for(task, 60)

        result = asyncio.run(main())
        assert lines_of(result)["Stdout"] == shown[0]
        assert result.error is not None
        assert result.error.type is ErrorType.SHELL_EXECUTE_ERROR
        assert result.error.message.endswith(" (command: echo $PPID; sleep 50)")
        assert stdout_of(call(tool, "echo again")) == "again\n"


class TestInput:
    def test_nobody_waits_for_input(self, tool: ShellTool) -> None:
        line = "read -p 'pw: ' x; echo $?; cat; python3 -c 'input()' 2>/dev/null || echo none; (: < /dev/tty) 2>&1"
        told = lines_of(call(tool, line))
        assert told["Stdout"].startswith("1\nnone\n")
        assert "/dev/tty: No such device or address" in told["Stdout"]

    def test_pagers_and_editors(self, tool: ShellTool) -> None:
        commit = "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty"
        expected = {
            f"mkdir a && cd a && {commit} -m x; git log --format=%s": "x\n",
            f"mkdir b && cd b && {commit} 2>&1 | tail -1": "Aborting commit due to empty commit message.\n",
            "seq 500 | less | tail -1": "500\n",
            "seq 500 | ${PAGER:-less} | tail -1": "500\n",
        }
        assert dict(zip(expected, map(stdout_of, call_all(tool, list(expected))), strict=True)) == expected


class TestLimits:
    def test_silence(self, workspace: Workspace, shell: ShellContext) -> None:
        tool = ShellTool(workspace, replace(shell, idle=1.5))
        message = (
            "Command was automatically cancelled because it exceeded the timeout of 0.0 minutes without output. "
            "The limit was 1.5 seconds."
        )
        assert call_all(tool, ["echo hi; sleep 50", "sleep 50"]) == [
            ToolResult(
                f"{message} Below is the output (on stdout and stderr) before it was cancelled:\nhi\n",
                f"hi\n\n{message}",
                ToolError(message, ErrorType.TIMEOUT),
            ),
            ToolResult(
                f"{message} There was no output before it was cancelled.",
                message,
                ToolError(message, ErrorType.TIMEOUT),
            ),
        ]

    def test_every_output_counts_anew(self, workspace: Workspace, shell: ShellContext) -> None:
        tool = ShellTool(workspace, replace(shell, idle=1.2))
        assert stdout_of(call(tool, "for i in 1 2 3 4 5 6; do echo $i; sleep .3; done")) == "1\n2\n3\n4\n5\n6\n"

    @pytest.mark.parametrize("none", [0, None])
    def test_no_limit(self, workspace: Workspace, shell: ShellContext, none: float | None) -> None:
        tool = ShellTool(workspace, replace(shell, idle=none, total=none))
        assert stdout_of(call(tool, "sleep .4; echo hi")) == "hi\n"

    def test_what_waits_for_input_is_named(self, workspace: Workspace, shell: ShellContext) -> None:
        tool = ShellTool(workspace, replace(shell, idle=1.5))
        prompts = ["Password: ", "Continue? [Y/n] ", "Are you sure (yes/no)? ", ">>> "]
        results = call_all(tool, [f"echo first; printf '{prompt}' >&2; sleep 50" for prompt in prompts])
        for prompt, result in zip(prompts, results, strict=True):
            assert result.error is not None
            assert result.error.type is ErrorType.TIMEOUT
            assert result.error.message.endswith(
                " The command seems to be waiting for input (needs_input), which cannot be provided; "
                f'its last output was "{prompt.strip()}". '
                "Provide the input up front, with an option of the program or a pipe into it."
            )

    def test_what_does_not_ask_is_not(self, workspace: Workspace, shell: ShellContext) -> None:
        tool = ShellTool(workspace, replace(shell, idle=1.5))
        results = call_all(
            tool, [f"printf '{told}'; sleep 50" for told in ("compiling main.c", "done.", "Password:\\n")]
        )
        assert [result.error and "needs_input" in result.error.message for result in results] == [False] * 3

    def test_the_total_limit_ends_a_flood(self, workspace: Workspace, shell: ShellContext) -> None:
        call(ShellTool(workspace, shell), "true")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result = call(ShellTool(workspace, replace(shell, total=0.5)), "yes")
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000
        assert result.error == ToolError(
            "Command was automatically cancelled because it exceeded the timeout of 0.0 minutes. "
            "The limit was 0.5 seconds.",
            ErrorType.TIMEOUT,
        )
        assert "Output too large. Showing first" in str(result.llm_content)
        for file in Path(shell.outputs).iterdir():
            file.unlink()

    def test_the_model_may_ask_for_another_limit(self, workspace: Workspace, shell: ShellContext) -> None:
        result = call(ShellTool(workspace, replace(shell, total=0.1)), "sleep .3; echo hi", timeout=50)
        assert (stdout_of(result), result.error) == ("hi\n", None)
        result = call(ShellTool(workspace, shell), "sleep 50", timeout=1)
        assert result.error is not None
        assert result.error.message.endswith("exceeded the timeout of 0.0 minutes. The limit was 1 seconds.")


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ShellTool, Path]]:
    directory = tmp_path_factory.mktemp("any").resolve()
    (directory / "root").mkdir()
    with Workspace([directory / "root"]) as workspace, open_shell(directory) as shell:
        yield ShellTool(workspace, shell), directory / "root"


class TestOutput:
    def test_bytes_become_text(self, tool: ShellTool) -> None:
        expected = {
            r"printf '\033[31mred\033[0m\n'": "red\n",
            r"printf '10%%\r100%%\n'": "100%\n",
            r"printf '\xe2\x82'; sleep .1; printf '\xac'": "€",
            r"printf '\xe2\x82'": "\ufffd",
            r"printf 'caf\xe9 cr\xe8me br\xfbl\xe9e\n'": "café crème brûlée\n",
            r"printf 'h\0i\0\n\0'": "hi\n",
            r"printf 'a\0b\1\2\0'": "[Binary output: 6 B]",
        }
        assert dict(zip(expected, map(stdout_of, call_all(tool, list(expected))), strict=True)) == expected

    def test_ten_thousand_lines(self, tool: ShellTool) -> None:
        text = "".join(f"{number}\n" for number in range(1, 7001))
        assert stdout_of(call(tool, "seq 7000")) == text

    def test_need_41_head_and_tail_and_where_the_whole_is(self, tool: ShellTool, shell: ShellContext) -> None:
        whole = "".join(f"{number}\n" for number in range(1, 20_001))
        told = stdout_of(call(tool, "seq 20000; seq 9 >&2"))
        label, _, rest = told.partition("\n")
        shown = re.fullmatch(
            r"Output too large. Showing first (\d+) and last (\d+) bytes of (\d+). For full output see: (.*)", label
        )
        assert shown is not None
        first, last, total, path = int(shown[1]), int(shown[2]), int(shown[3]), Path(shown[4])
        assert total == len(whole)
        gap = f"\n\n... [{total - first - last} bytes omitted] ...\n\n"
        assert rest == whole[:first].removesuffix("\n") + gap + whole[-last:]
        assert (whole[first - 1], whole[-last - 1]) == ("\n", "\n")
        assert 38_000 < first + last <= 40_000
        assert path.parent == Path(shell.outputs)
        assert path.read_text() == whole
        assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)

    def test_a_single_line_of_giant_length(self, tool: ShellTool) -> None:
        told = stdout_of(call(tool, r"printf x; printf '\xc3\xa9%.0s' $(seq 50001)"))
        assert told.startswith("Output too large. Showing first 7999 and last 32000 bytes of 100003. For full output")
        assert "\ufffd" not in told
        assert told.count("é") == 19_999

    def test_a_lot_of_noise(self, tool: ShellTool) -> None:
        told = stdout_of(call(tool, "head -c 3000000 /dev/urandom"))
        shown = re.fullmatch(r"\[Binary output: 2.9 MB, kept in (.*)\]", told)
        assert shown is not None
        assert Path(shown[1]).stat().st_size == 3_000_000

    def test_what_cannot_be_kept_is_said_to_be_lost(
        self, workspace: Workspace, shell: ShellContext, tmp_path: Path
    ) -> None:
        (tmp_path / "file").touch()
        tool = ShellTool(workspace, replace(shell, outputs=str(tmp_path / "file" / "outputs")))
        told = stdout_of(call(tool, "seq 20000"))
        assert " bytes of 108894. [Note: Could not save full output to file]\n1\n2\n" in told
        assert told.endswith("\n20000\n")

    @settings(max_examples=40)
    @example(b"")
    @example(b"\r\n\x1b[31m\x80")
    @example("日本語\n".encode("euc_jp") * 9)
    @given(
        st.binary(max_size=300)
        | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
        | st.text("aé\u20ac\n\r\t\x1b[31mK\x08", max_size=200).map(str.encode)
    )
    def test_any_bytes_are_told_as_they_are_read(self, everything: tuple[ShellTool, Path], printed: bytes) -> None:
        tool, root = everything
        (root / "file").write_bytes(printed)
        assert stdout_of(call(tool, "cat file")) == read(printed)


def read(printed: bytes) -> str:
    """UTF-8, then what else it may be, then nothing that is text."""
    cut = printed
    for _ in range(4):
        try:
            if b"\0" in printed[:4096]:
                break
            return render_terminal_text(cut.decode() + ("\ufffd" if cut != printed else ""))
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                break
            cut = printed[: error.start]
    encoding = detect_encoding(printed, whole=True)
    if encoding is None:
        return f"[Binary output: {len(printed)} B]"
    return render_terminal_text(re.sub("[\ud800-\udfff]", "\ufffd", encoding.decode(printed)))


class TestLive:
    def test_first_at_once_then_every_second_then_a_last_time(self, tool: ShellTool) -> None:
        shown: list[tuple[float, str]] = []
        began = time.monotonic()
        context = ToolContext(update_output=lambda text: shown.append((time.monotonic() - began, text)))
        call(tool, "for i in 1 2 3 4 5 6; do echo $i; sleep .25; done; echo end >&2", context)
        moments, texts = zip(*shown, strict=True)
        assert texts[0] == "1\n"
        assert texts[-1] == "1\n2\n3\n4\n5\n6\nend\n"
        assert len(texts) in (3, 4)
        assert all(later - earlier > 0.95 for earlier, later in pairwise(moments[:-1]))

    def test_none_for_background_runs(self, tool: ShellTool) -> None:
        shown: list[str] = []
        call(tool, "echo hi", ToolContext(update_output=shown.append), is_background=True)
        assert shown == []

    def test_binary(self, tool: ShellTool) -> None:
        shown: list[str] = []
        call(tool, "head -c 3000 /dev/zero", ToolContext(update_output=shown.append))
        assert shown == [
            "[Binary output detected. Halting stream...]",
            "[Receiving binary output... 2.9 KB received]",
        ]


class TestApproval:
    def test_what_is_shown(self, workspace: Workspace, shell: ShellContext, root: Path) -> None:
        (root / "sub").mkdir()
        (root / "link").symlink_to("sub")
        tool = ShellTool(workspace, replace(shell, sandbox_note="No sandbox."))
        params = {"command": "npm start", "directory": "link", "description": "serves\nit", "is_background": True}
        shown = asyncio.run(tool.should_confirm_execute({**params, "network": True}))
        assert isinstance(shown, ExecConfirmation)
        assert shown == ExecConfirmation(
            "Confirm Shell Command",
            "npm start",
            str(root / "sub"),
            description="serves it",
            notes=(
                "It keeps running in the background, even after this session ends.",
                "It may use the network.",
                "No sandbox.",
            ),
            digest=shown.digest,
        )
        timed = asyncio.run(tool.should_confirm_execute({"command": "make", "timeout": 5}))
        assert isinstance(timed, ExecConfirmation)
        assert timed.notes == ("It is stopped after 5 seconds.", "No sandbox.")
        assert re.fullmatch("[0-9a-f]{64}", shown.digest)

    def test_the_digest_is_of_all_that_decides(self, tool: ShellTool, root: Path) -> None:
        (root / "sub").mkdir()
        calls = [
            {"command": "a"},
            {"command": "a "},
            {"command": "a", "directory": "sub"},
            {"command": "a", "is_background": True},
            {"command": "a", "network": True},
            {"command": "a", "timeout": 5},
        ]
        shown = [asyncio.run(tool.should_confirm_execute(params)) for params in calls]
        assert len({confirmation.digest for confirmation in shown if confirmation}) == len(calls)
        same = [{"command": "a", "description": "words"}, {"command": "a", "directory": "."}]
        assert {
            confirmation.digest for params in same if (confirmation := asyncio.run(tool.should_confirm_execute(params)))
        } == {shown[0] and shown[0].digest}

    def test_what_was_approved_runs_and_nothing_else(self, tool: ShellTool) -> None:
        approved = asyncio.run(tool.should_confirm_execute({"command": "echo shown"}))
        result = call(tool, "echo other", ToolContext(approved=approved))
        assert (lines_of(result)["Command"], stdout_of(result)) == ("echo shown", "shown\n")

    def test_a_directory_that_was_swapped_is_refused(self, tool: ShellTool, root: Path) -> None:
        (root / "one").mkdir()
        (root / "two").mkdir()
        (root / "link").symlink_to("one")
        params = {"command": "touch mark", "directory": "link"}
        approved = asyncio.run(tool.should_confirm_execute(params))
        (root / "link").unlink()
        (root / "link").symlink_to("two")
        refused = failed_result(
            "The command differs from the one you approved, so it was not run.", ErrorType.STALE_FILE
        )
        assert asyncio.run(validate_and_execute(tool, params, ToolContext(approved=approved))) == refused
        assert list((root / "one").iterdir()) + list((root / "two").iterdir()) == []

    def test_an_approval_of_something_else_is_refused(self, tool: ShellTool, root: Path) -> None:
        refused = failed_result(
            "The command differs from the one you approved, so it was not run.", ErrorType.STALE_FILE
        )
        assert call(tool, "touch mark", ToolContext(approved=InfoConfirmation("a", "b"))) == refused
        approved = asyncio.run(tool.should_confirm_execute({"command": "touch mark"}))
        assert isinstance(approved, ExecConfirmation)
        assert call(tool, "touch mark", ToolContext(approved=replace(approved, digest="0" * 64))) == refused
        assert list(root.iterdir()) == []


class TestBackground:
    def test_it_goes_on(self, tool: ShellTool, shell: ShellContext, root: Path) -> None:
        result = call(tool, "echo up; sleep 60", is_background=True, delay_ms=1500)
        (job,) = shell.jobs.list_jobs().jobs
        assert result == ToolResult(
            f"Command is running in background. PID: {job.pid}. Initial output:\nup\n",
            f"Background process started with PID {job.pid}.",
        )
        assert (job.command, job.directory, job.state.value) == ("echo up; sleep 60", str(root), "running")
        shell.supervisor.close()
        assert is_alive(job.pid)

    def test_one_that_ends_at_once_is_a_command_like_any_other(self, tool: ShellTool, shell: ShellContext) -> None:
        told = lines_of(call(tool, "echo out; echo err >&2; exit 3", is_background=True, delay_ms=2000))
        (job,) = shell.jobs.list_jobs().jobs
        assert told == {
            "Command": "echo out; echo err >&2; exit 3",
            "Directory": "(root)",
            "Stdout": "out\nerr\n",
            "Stderr": "(empty)",
            "Error": "(none)",
            "Exit Code": "3",
            "Signal": "(none)",
            "Background PIDs": "(none)",
            "Process Group PGID": str(job.pid),
        }

    @pytest.mark.parametrize("seconds", [0.0, 0.5])
    def test_cancelled_it_is_stopped(self, tool: ShellTool, seconds: float) -> None:
        mark = f"{3000 + os.getpid()}.{time.monotonic_ns() % 10**6}"

        async def main() -> None:
            params = {"command": f"sleep {mark}; true", "is_background": True, "delay_ms": 20_000}
            task = asyncio.create_task(validate_and_execute(tool, params))
            await asyncio.sleep(seconds)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        assert living_pids(mark) == []


class TestSandbox:
    @pytest.fixture
    def fenced(self, workspace: Workspace, shell: ShellContext, tmp_path: Path) -> tuple[ShellTool, ShellContext]:
        directories = [tmp_path.resolve() / name for name in ("home", "sandbox", "temporary")]
        for directory in directories:
            directory.mkdir()
        roots = (workspace.roots.first.real_path,)
        sandbox, report = select_sandbox(SandboxMode.AUTO, roots=roots, state_directory=str(directories[1]))
        if sandbox is None:
            pytest.skip(f"SANDBOX MISSING: {report.files.detail}")
        control = ((".gemini", True),)
        fence = SandboxPolicy(
            roots,
            str(directories[2]),
            read_only_paths=control,
            hidden_paths=(),
            network=False,
            blocked_paths=(".gemini",),
        )
        fenced = replace(
            shell, wrap=lambda arguments, directory, _: sandbox.wrap(arguments, fence, directory=directory)
        )
        return ShellTool(workspace, fenced), fenced

    def test_commands_and_jobs_run_inside(
        self, fenced: tuple[ShellTool, ShellContext], root: Path, tmp_path: Path
    ) -> None:
        tool, shell = fenced
        line = f"touch inside; touch {tmp_path}/home/outside; exit 3"
        told = lines_of(call(tool, line))
        assert told["Exit Code"] == "3"
        assert "cannot touch" in told["Stderr"]
        call(tool, f"touch job; touch {tmp_path}/home/outside; sleep 60", is_background=True, delay_ms=2000)
        (job,) = shell.jobs.list_jobs().jobs
        assert "cannot touch" in shell.jobs.read_log(job.pid).text
        assert shell.jobs.stop(job.pid).state.value == "exited"
        assert sorted(os.listdir(root)) == ["inside", "job"]
        assert os.listdir(tmp_path / "home") == []

    def test_the_sandbox_itself_is_no_background_process(
        self, fenced: tuple[ShellTool, ShellContext], root: Path
    ) -> None:
        tool, _ = fenced
        seconds: list[float] = []
        while len(seconds) < 30 or (min(seconds) >= 0.1 and len(seconds) < 300):  # the machine may be busy
            began = time.monotonic()
            told = lines_of(call(tool, "true"))
            seconds.append(time.monotonic() - began)
            assert (told["Exit Code"], told["Background PIDs"]) == ("0", "(none)")
            assert os.listdir(root) == []
        assert min(seconds) < 0.1  # nobody waits for last words

    def test_a_background_process_is_named_and_lives_until_the_session_ends(
        self, fenced: tuple[ShellTool, ShellContext], root: Path
    ) -> None:
        tool, shell = fenced
        began = time.monotonic()
        told = lines_of(call(tool, "sleep 60 & echo hi"))
        assert time.monotonic() - began < 20
        assert told["Stdout"] == "hi\n"
        pid = int(told["Background PIDs"])
        assert Path(f"/proc/{pid}/cmdline").read_bytes() == b"sleep\x0060\0"
        assert lines_of(call(tool, "true"))["Background PIDs"] == "(none)"
        assert is_alive(pid)
        shell.close()
        assert not is_alive(pid)
        assert lines_of(call(tool, "true"))["Background PIDs"] == "(none)"
        assert os.listdir(root) == []
