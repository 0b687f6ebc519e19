"""The words of a result that no command of the other tests gives."""

import pytest

from tejat.core.errors import ErrorType
from tejat.core.tool import ToolError, ToolResult
from tejat.tools.shell_result import Ran, cancelled, cut_off, finished, not_started
from tejat.workspace.processes.collect import Why
from tejat.workspace.processes.launching import Exit


def test_all_nine_lines() -> None:
    ran = Ran("a\nb", "sub", "out", "err", 7)
    assert finished(ran, Exit(None, 15, (8, 9))) == ToolResult(
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
    assert finished(Ran("true", None, stdout, stderr, 7), Exit(0, None)).return_display == display


def test_the_command_is_named_when_it_did_not_start() -> None:
    message = "Permission denied (command: make all)"
    result = not_started(Ran("make all", None), "Permission denied")
    assert result.error == ToolError(message, ErrorType.SHELL_EXECUTE_ERROR)
    assert f"\nError: {message}\n" in str(result.llm_content)


@pytest.mark.parametrize(
    ("why", "limit", "message"),
    [
        (Why.IDLE, 300, "exceeded the timeout of 5.0 minutes without output."),
        (Why.IDLE, 90, "exceeded the timeout of 1.5 minutes without output."),
        (Why.TOTAL, 1800, "exceeded the timeout of 30.0 minutes."),
        (Why.TOTAL, 30, "exceeded the timeout of 0.5 minutes. The limit was 30 seconds."),
    ],
)
def test_limits(why: Why, limit: float, message: str) -> None:
    told = f"Command was automatically cancelled because it {message}"
    assert cut_off(Ran("a", None, "out", "", 7), why, limit=limit) == ToolResult(
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
    for why in Why.IDLE, Why.TOTAL:
        result = cut_off(Ran("a", None, stdout, stderr, 7), why, limit=300)
        assert result.error is not None
        assert ("needs_input" in result.error.message) == (asks and why is Why.IDLE)


def test_cancelled_with_nothing_but_blanks() -> None:
    assert cancelled(Ran("a", None, " \n", "", 7)) == ToolResult(
        "Command was cancelled by user before it could complete. There was no output before it was cancelled.",
        "Command cancelled by user.",
    )
