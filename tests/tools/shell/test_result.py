"""The words of a result that no command of the other tests gives."""

import subprocess
import sys
from pathlib import Path

import pytest

import tejat
from tejat.core.errors import ErrorType
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.cancellation import CancelReason
from tejat.tools.shell.result import (
    CommandRun,
    add_sandbox_notes,
    cancelled_before_start_result,
    cancelled_result,
    command_exit_code,
    command_output,
    finished_result,
    start_failure_result,
    timeout_result,
)
from tejat.workspace.control_paths.changes import ControlPathChanges
from tejat.workspace.processes.output_collector import CommandEndReason
from tejat.workspace.processes.spawn import ExitStatus
from tejat.workspace.sandbox.landlock import abi_version

SOURCE = Path(tejat.__file__).parent.parent
START = (
    "import sys; sys.path.append(sys.argv[1]); from tejat.workspace.sandbox.exec_helper import main; main(sys.argv[2:])"
)


def test_all_nine_lines() -> None:
    command_run = CommandRun("a\nb", "sub", "out", "err", 7)
    assert finished_result(command_run, ExitStatus(None, 15, (8, 9))) == ToolResult(
        "Command: a\nb\nDirectory: sub\nStdout: out\nStderr: err\nError: (none)\nExit Code: (none)\nSignal: SIGTERM\n"
        "Background PIDs: 8, 9\nProcess Group PGID: 7",
        "out\nerr",
        exit_code=-15,
    )


@pytest.mark.parametrize(
    ("stdout", "stderr", "display"),
    [
        ("", "", ""),
        (" \n", "\n", ""),
        ("a\n", "b\n", "a\nb\n"),
        ("a", "b", "a\nb"),
        ("", "b", "b"),
        ("a", "", "a"),
    ],
)
def test_what_the_person_sees_of_a_success(stdout: str, stderr: str, display: str) -> None:
    assert finished_result(CommandRun("true", None, stdout, stderr, 7), ExitStatus(0, None)).return_display == display


def test_the_command_is_named_when_it_did_not_start() -> None:
    message = "Permission denied (command: make all)"
    result = start_failure_result(CommandRun("make all", None), "Permission denied")
    assert result.error == ToolError(message, ErrorType.SHELL_EXECUTE_ERROR)
    assert f"\nError: {message}\n" in str(result.llm_content)


@pytest.mark.skipif(not abi_version(), reason="SANDBOX MISSING: this kernel has no Landlock")
@pytest.mark.parametrize(
    ("mode", "reason"), [(0o755, "[Errno 8] Exec format error"), (0o644, "[Errno 13] Permission denied")]
)
def test_a_shell_that_the_sandbox_cannot_start_is_an_error(tmp_path: Path, mode: int, reason: str) -> None:
    shell = tmp_path / "bash"
    shell.write_text("neither a program nor a script\n")
    shell.chmod(mode)
    argv = [sys.executable, "-I", "-S", "-c", START, str(SOURCE), "alone", "--", str(shell), "-c", "make"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    run = CommandRun("make", None, done.stdout, done.stderr)
    message = f"the command could not be started: {reason}: '{shell}' (command: make)"
    assert finished_result(run, ExitStatus(done.returncode, None)).error == ToolError(
        message, ErrorType.SHELL_EXECUTE_ERROR
    )
    assert finished_result(run, ExitStatus(0, None)).error is None


@pytest.mark.parametrize(
    ("why", "limit", "message"),
    [
        (CommandEndReason.IDLE, 300, "exceeded the timeout of 5.0 minutes without output."),
        (CommandEndReason.IDLE, 90, "exceeded the timeout of 1.5 minutes without output."),
        (CommandEndReason.TOTAL, 1800, "exceeded the timeout of 30.0 minutes."),
        (CommandEndReason.TOTAL, 30, "exceeded the timeout of 0.5 minutes. The limit was 30 seconds."),
    ],
)
def test_limits(why: CommandEndReason, limit: float, message: str) -> None:
    told = f"Command was automatically cancelled because it {message}"
    assert timeout_result(CommandRun("a", None, "out", "", 7), why, limit=limit) == ToolResult(
        f"{told} Below is the output (on stdout and stderr) before it was cancelled:\nout",
        f"out\n{told}",
        ToolError(told, ErrorType.TIMEOUT),
    )


@pytest.mark.parametrize(
    ("stdout", "stderr", "asks"),
    [
        ("Password: ", "", True),
        ("", "Enter passphrase for key '/k': ", True),
        ("Proceed (y/n)?", "warning\n", True),
        ("$ ", "", True),
        ("> " * 200, "", False),
        ("Password:\n", "", False),
        ("50 of 100", "", False),
        ("", "", False),
    ],
)
def test_who_waits_for_input(stdout: str, stderr: str, asks: bool) -> None:
    for why in CommandEndReason.IDLE, CommandEndReason.TOTAL:
        result = timeout_result(CommandRun("a", None, stdout, stderr, 7), why, limit=300)
        assert result.error is not None
        assert ("needs_input" in result.error.message) == (asks and why is CommandEndReason.IDLE)


def test_cancelled_with_nothing_but_blanks() -> None:
    assert cancelled_result(CommandRun("a", None, " \n", "", 7)) == ToolResult(
        "Command was cancelled by user before it could complete. There was no output before it was cancelled.",
        "Command cancelled by user.",
    )


def test_cancelled_by_the_time_limit_of_the_run() -> None:
    assert cancelled_result(CommandRun("a", None, " \n", "", 7), CancelReason.TIME_LIMIT) == ToolResult(
        "Command was cancelled before it could complete: the time limit of the run was reached. There was no output "
        "before it was cancelled.",
        "Command cancelled: the time limit of the run was reached.",
    )
    assert cancelled_before_start_result(CancelReason.TIME_LIMIT) == ToolResult(
        "Command was cancelled before it could start: the time limit of the run was reached.",
        "Command cancelled: the time limit of the run was reached.",
    )


CHECK_THEM = "Check them before git, an editor or a shell uses them."


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        (
            ControlPathChanges(created=("/r/.git",)),
            f"New files that control what other programs run: /r/.git. {CHECK_THEM}",
        ),
        (
            ControlPathChanges(changed=tuple(f"/r/{number}" for number in range(22))),
            "Changed files that control what other programs run: "
            + ", ".join(f"/r/{number}" for number in range(20))
            + f" and 2 more. {CHECK_THEM}",
        ),
        (
            ControlPathChanges(is_complete=False),
            "There are too many directories to check; such files deep inside are not protected.",
        ),
    ],
)
@pytest.mark.parametrize(("display", "shown"), [("", ""), ("out\n", "out\n")])
def test_control_paths_are_told_to_both(changes: ControlPathChanges, note: str, display: str, shown: str) -> None:
    result = add_sandbox_notes(ToolResult("lines", display, exit_code=0), changes, has_mounts=True)
    assert result == ToolResult(f"lines\nSandbox: {note}", shown + note, exit_code=0)


def test_nothing_is_said_of_control_paths_without_changes() -> None:
    result = ToolResult("lines", "out\n")
    assert add_sandbox_notes(result, ControlPathChanges(), has_mounts=True) == result


@pytest.mark.parametrize("has_mounts", [True, False])
def test_the_model_is_told_why_something_is_busy(has_mounts: bool) -> None:
    result = ToolResult("Stderr: mv: cannot move 'a' to 'b': Device or resource busy", "mv: ... busy\n")
    told = add_sandbox_notes(result, ControlPathChanges(), has_mounts=has_mounts)
    assert told.return_display == result.return_display
    assert ("cannot be moved or removed" in str(told.llm_content)) is has_mounts


def test_the_output_is_found_in_what_the_model_read() -> None:
    run = CommandRun("echo a; echo b >&2", None, stdout="a\nStderr: x\n", stderr="b\n")
    content = finished_result(run, ExitStatus(0, None)).llm_content
    assert isinstance(content, str)
    assert command_output(content) == "a\nStderr: x\nb"
    assert command_output("no command") == "no command"


@pytest.mark.parametrize(
    ("status", "code"), [(ExitStatus(0, None), 0), (ExitStatus(3, None), 3), (ExitStatus(None, 15), -15)]
)
def test_the_exit_code_is_found_in_what_the_model_read(status: ExitStatus, code: int) -> None:
    run = CommandRun("make", None, stdout="Exit Code: 7\nSignal: SIGKILL\n")
    content = finished_result(run, status).llm_content
    assert isinstance(content, str)
    assert command_exit_code(content) == code


def test_other_texts_have_no_exit_code() -> None:
    assert command_exit_code("Exit Code: 7\nSignal: (none)") is None
