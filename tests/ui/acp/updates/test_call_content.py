"""The end of a call as a client shows it: outcome, output, change, media, and what the model got."""

import base64
from typing import Any, cast

import pytest

from support.acp_updates import Json, texts
from support.media_files import png
from support.sample_events import EDIT, READ_FAILED, SHELL, SHELL_REFUSED, call_finished, diff, function_response
from tejat.core.agent.events import Answered
from tejat.core.agent.subagent_events import AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.errors import ErrorType
from tejat.core.frozen import replace
from tejat.core.messages.history import model_message
from tejat.core.messages.types import FunctionCall, InlineData
from tejat.core.model import ModelResponse, Usage
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_events import FEEDBACK_MARK, CallFinished, CallState, StateChanged
from tejat.core.tools.todos import Todo, TodoList, TodoStatus
from tejat.ui.acp.updates.call_content import EndedCall, agent_text, finished_call
from tejat.ui.acp.updates.content_blocks import MAX_TEXT_CHARS
from tejat.ui.shared.calls.agent_progress import AgentProgress

READ = FunctionCall("read_file", {"path": "a.py", "offset": 10, "limit": 5}, "c1")


def ended(finished: CallFinished, **more: Any) -> tuple[EndedCall, list[str]]:
    is_markdown = more.pop("is_markdown", False)
    call = finished_call(finished, folder="/w", is_markdown=is_markdown, **more)
    return call, texts(cast("list[Json]", call.content))


def test_output_of_a_command_is_code_with_its_outcome() -> None:
    result = ToolResult("Exit Code: 2", "no rule to make target\n", exit_code=2)
    call, shown = ended(call_finished(SHELL, result, function_response(SHELL, "Exit Code: 2"), seconds=3.0))
    assert shown == ["exit 2, 3.0 s", "```\nno rule to make target\n```"]
    assert (call.status, call.raw_output) == ("failed", {"output": "Exit Code: 2", "exitCode": 2})


def test_long_output_keeps_its_end_and_a_long_file_its_beginning() -> None:
    text = "\n".join(f"line {number}" for number in range(10_000))
    _, (output,) = ended(call_finished(SHELL, ToolResult("", text, exit_code=0)))
    assert output.startswith(f"```\n[{len(text) - MAX_TEXT_CHARS:,} characters are not shown]\n")
    assert output.endswith("line 9999\n```")
    _, (content,) = ended(call_finished(READ, ToolResult(text)))
    assert content.startswith("```\nline 0\n")
    assert content.endswith("characters are not shown]\n```")


def test_what_a_title_says_is_not_repeated() -> None:
    call = FunctionCall("run_shell_command", {"command": "make", "directory": "sub"}, "c1")
    _, shown = ended(call_finished(call, ToolResult("", "ok\n", exit_code=1)))
    assert shown == ["exit 1", "```\nok\n```"]


def test_a_terminal_has_shown_the_output() -> None:
    result = ToolResult("", "output\n", exit_code=1)
    assert ended(call_finished(SHELL, result), has_terminal=True)[1] == ["exit 1"]


def test_markdown_stays_markdown() -> None:
    fetch = FunctionCall("summarize", {}, "c1")
    assert ended(call_finished(fetch, ToolResult("", "# Page\n\nText")), is_markdown=True)[1] == ["# Page\n\nText"]


def test_an_edit_is_a_diff() -> None:
    change = replace(diff(), original_content="a\n", new_content="b\n")
    call, shown = ended(call_finished(EDIT, ToolResult("ok", change)))
    assert call.content == ({"type": "diff", "path": "/w/a.txt", "oldText": "a\n", "newText": "b\n"},)
    assert (call.status, shown) == ("completed", [])


def test_an_edit_of_a_large_file_is_the_text_of_a_diff() -> None:
    assert ended(call_finished(EDIT, ToolResult("ok", diff())))[1] == ["```diff\n-a\n+b\n```"]


def test_a_rejected_change_says_so_and_what_the_user_said() -> None:
    message = f"no{FEEDBACK_MARK}use the other file"
    rejected = call_finished(EDIT, ToolResult(message, diff(), ToolError(message, ErrorType.CANCELLED)), seconds=0.0)
    call, shown = ended(replace(rejected, was_rejected=True))
    assert shown == ["```diff\n-a\n+b\n```", "not run: you said no\n\nYou: use the other file"]
    assert call.status == "failed"


@pytest.mark.parametrize(
    ("finished", "expected"),
    [
        (READ_FAILED, "failed\n\nFile not found."),
        (SHELL_REFUSED, "denied\n\n" + str(SHELL_REFUSED.result.return_display)),
    ],
)
def test_a_failure_says_why(finished: CallFinished, expected: str) -> None:
    call, shown = ended(finished)
    assert (call.status, shown) == ("failed", [expected])


def test_pictures_are_shown() -> None:
    call, shown = ended(call_finished(READ, ToolResult([InlineData("image/png", png())], "Read image file")))
    assert shown == []
    assert [each["content"] for each in cast("list[Json]", call.content)] == [
        {"type": "image", "mimeType": "image/png", "data": base64.b64encode(png()).decode()}
    ]


def test_todos_are_listed() -> None:
    todos = TodoList((Todo("Read", TodoStatus.COMPLETED), Todo("Write")))
    _, shown = ended(call_finished(FunctionCall("write_todos", {}, "c1"), ToolResult("ok", todos)), is_markdown=True)
    assert shown == ["1/2 done", "[x] Read (done)\n[ ] Write"]


def test_the_end_of_a_sub_agent_has_its_figures_and_the_changes_that_were_not_kept() -> None:
    call = FunctionCall("invoke_agent", {"agent_name": "fixer", "prompt": "Fix it."}, "c1")
    end = AgentEnded(
        "fixer#1",
        "fixer",
        SubagentEnd.ERROR,
        calls=2,
        usage=Usage(10, 0, 5),
        seconds=2.0,
        error="It broke.",
        patch="-a\n+b\n",
    )
    _, shown = ended(call_finished(call, ToolResult("", "Some text."), seconds=2.0), is_markdown=True, agent=end)
    assert shown == [
        "2.0 s\n\nSome text.",
        "ERROR fixer, 2 calls, 15 tokens, 2.0 s\n\nIt broke.",
        "These changes of fixer#1 were not kept:",
        "```diff\n-a\n+b\n```",
    ]


def test_a_running_sub_agent_shows_its_task_its_calls_and_its_figures() -> None:
    progress = AgentProgress(AgentStarted("a#1", "a", "c1", "Find *it*.\nNow.", "m"), since=0.0, folder="/w")
    progress.record(Answered(ModelResponse(model_message("x"), usage=Usage(10, 0, 5)), 0.1))
    progress.record(READ_FAILED)
    progress.record(StateChanged(1, SHELL, CallState.EXECUTING))
    assert agent_text(progress) == (
        "Find *it*.\n\n- Read a.txt (failed)\n- Running make (running)\n\n1 turn, 15 tokens"
    )
