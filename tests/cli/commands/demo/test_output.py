"""What a newcomer reads of a run."""

import io

import pytest

from tejat.cli.commands.demo.output import DemoOutput
from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    EndReason,
    Noticed,
    Prompted,
    Retrying,
    RunEnded,
    SessionStarted,
    TextStreamed,
)
from tejat.core.errors import ErrorType
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FunctionCall
from tejat.core.model import FailureKind, ModelResponse
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_events import CallFinished, CallState, StateChanged
from tejat.core.tools.display import Display, FileDiff
from tejat.ui.plain.style import Style

STORY = DemoOutput("/tmp/d/project", Style(io.StringIO()))
PATCH = "--- a.py\tCurrent\n+++ a.py\tProposed\n@@ -1 +1 @@\n-a\n+b\n"


def finished(
    name: str,
    args: dict[str, object],
    content: str = "",
    display: Display = "",
    error: ToolError | None = None,
) -> CallFinished:
    result = ToolResult(content, display, error)
    return CallFinished(0, FunctionCall(name, args), CallState.SUCCESS, result, (), 0.1)


@pytest.mark.parametrize(
    ("event", "lines"),
    [
        (Prompted(user_message("x"), "Fix \x1b[31mit"), ["You: Fix <U+001B>[31mit", ""]),
        (Answered(ModelResponse(model_message("I look.\n")), 0.1), ["Model: I look.", ""]),
        (Answered(ModelResponse(model_message("\n")), 0.1), []),
        (Answered(ModelResponse(model_message("aside")), 0.1, purpose="web_fetch"), []),
        (
            finished(
                "list_directory", {"path": "/tmp/d/project"}, "Directory listing for /tmp/d/project:\na\n", "Listed"
            ),
            ["list_directory path=.", "    Directory listing for .:", "    a", ""],
        ),
        (
            finished("read_file", {"file_path": "/tmp/d/project/a.py", "limit": 3}, "1\n\n\x07\n"),
            ["read_file file_path=a.py limit=3", "    1", "", "    <U+0007>", ""],
        ),
        (
            finished(
                "replace",
                {"file_path": "/tmp/d/project/a.py", "old_string": "a", "new_string": "b"},
                "ok",
                FileDiff("a.py", "/tmp/d/project/a.py", PATCH, is_new_file=False),
            ),
            [
                "replace file_path=a.py",
                *("    1 - a", "    1 + b", ""),
            ],
        ),
        (
            finished("run_shell_command", {"command": "make\ntest", "description": "x"}, "Command: x", "1\n2\n"),
            ["run_shell_command $ make test", "    1", "    2", ""],
        ),
        (
            finished("save_memory", {"fact": "x" * 200}, "{}", "Remembered."),
            [f"save_memory fact={'x' * 99}…", "    Remembered.", ""],
        ),
        (
            finished("run_shell_command", {"command": "seq 20"}, "", "\n".join(map(str, range(20)))),
            ["run_shell_command $ seq 20", *(f"    {n}" for n in range(12)), "    … and 8 more lines", ""],
        ),
        (
            finished("glob", {}, "", "", ToolError("no\nway", ErrorType.EXECUTION_FAILED)),
            ["glob", "    failed: no", "    way", ""],
        ),
        (
            Retrying(FailureKind.UNAVAILABLE, "503", 1, 5, 2.0),
            ["The model did not answer (503). Retrying in 2.0 s.", ""],
        ),
        (Noticed("No sandbox."), ["Note: No sandbox.", ""]),
        (
            RunEnded(EndReason.MODEL_FAILED, message="d.toml: answer 4: \x07", failure=FailureKind.SCRIPT),
            ["The demo ended early: d.toml: answer 4: <U+0007>"],
        ),
        (RunEnded(EndReason.INTERRUPTED), ["The demo ended early: interrupted"]),
        (SessionStarted("id", "scripted"), []),
        (TextStreamed("I "), []),
        (StateChanged(0, FunctionCall("glob", {}), CallState.EXECUTING), []),
    ],
)
def test_each_event_in_words(event: AgentEvent, lines: list[str]) -> None:
    assert STORY.render(event) == lines


def test_a_good_end_says_how_to_start_for_real() -> None:
    told = "\n".join(STORY.render(RunEnded(EndReason.FINISHED, text="Done.")))
    assert "To start for real:" in told
    assert all(command in told for command in ("  tejat ", "tejat doctor", "tejat --help"))


def test_the_beginning_says_what_is_real_and_what_is_approved() -> None:
    told = "\n".join(STORY.introduction())
    assert "/tmp/d/project" in told
    assert "no API key and no network" in told
    assert "--yes" in told
