"""Values as HTML and Markdown: readable, and harmless whatever they contain."""

import base64
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.public_values import instances, value_classes
from tejat.core.agent.events import EndReason, PlanPresented, RunEnded, TextStreamed
from tejat.core.approval.confirmation import (
    ApprovalRequest,
    AskUserConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
)
from tejat.core.approval.user_question import UserQuestion
from tejat.core.errors import ErrorType
from tejat.core.frozen import Value
from tejat.core.messages.history import Message, model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData
from tejat.core.model import Usage
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_events import CallFinished, CallState
from tejat.core.tools.display import FileDiff
from tejat.core.tools.todos import Todo, TodoList, TodoStatus
from tejat.core.ui.rich_value import RichValue
from tejat.notebook.display import value_html, value_markdown

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"
PATCH = "--- a.py\tCurrent\n+++ a.py\tProposed\n@@ -1,1 +1,1 @@\n-old = 1\n+new = '<b>'\n"
DIFF = FileDiff("a.py", "/p/a.py", PATCH, is_new_file=False)
TODOS = TodoList((Todo("Read", TodoStatus.COMPLETED), Todo("Write", TodoStatus.IN_PROGRESS), Todo(HOSTILE)))
PNG = b"\x89PNG\r\n\x1a\n and more"
RICH = [cls for cls in value_classes() if issubclass(cls, RichValue)]


def body(value: Value) -> str:
    """The markup of a value without its style."""
    assert isinstance(value, RichValue)
    return value._repr_html_().partition("</style>")[2].removesuffix("</div>")


def markdown(value: Value) -> str:
    assert isinstance(value, RichValue)
    return value._repr_markdown_()


class TestResults:
    def test_text(self) -> None:
        result = ToolResult("for the model", "for the user")
        assert '<pre class="output whole" tabindex="0" role="group" aria-label="Output">for the user</pre>' in body(
            result
        )
        assert "<summary>Content for the model</summary>" in body(result)
        assert markdown(result) == "```\nfor the user\n```"

    def test_the_same_text_is_shown_once(self) -> None:
        assert body(ToolResult("same", "same")).count("same") == 1
        assert body(ToolResult("only this")).count("only this") == 1
        assert markdown(ToolResult("only this")) == "```\nonly this\n```"

    def test_a_failure(self) -> None:
        result = ToolResult("Error: no", "no", ToolError(f"no {HOSTILE}", ErrorType.FILE_NOT_FOUND))
        assert "Error: no &lt;script&gt;" in body(result)
        assert markdown(result).startswith("**Error** (`file_not_found`)\n\n```\nno ")

    def test_a_diff_and_todos(self) -> None:
        assert '<div class="diff"' in body(ToolResult("ok", DIFF))
        assert '<ul class="todos">' in body(ToolResult("ok", TODOS))
        assert "```diff\n" in markdown(ToolResult("ok", DIFF))
        assert "- [x] Read" in markdown(ToolResult("ok", TODOS))

    def test_pictures_are_shown_and_other_media_named(self) -> None:
        shown = body(ToolResult([InlineData("image/png", PNG), InlineData("image/svg+xml", b"<svg onload=x>")]))
        assert f'<img src="data:image/png;base64,{base64.b64encode(PNG).decode()}" alt="[image/png,' in shown
        assert "[image/svg+xml, 14 bytes]" in shown
        assert shown.count("<img") == 1

    def test_a_response_of_a_part(self) -> None:
        assert "FunctionResponse(name=&#x27;a&#x27;" in body(ToolResult(FunctionResponse("a", {"output": "x"})))


class TestOthers:
    def test_a_diff(self) -> None:
        shown = body(DIFF)
        assert "<strong>a.py</strong>" in shown
        assert re.search(r'<tr class="removed">.*old', shown)
        assert "&lt;b&gt;" in shown
        assert markdown(DIFF) == f"**a.py**\n\n```diff\n{PATCH.rstrip().expandtabs(4)}\n```"

    def test_todos(self) -> None:
        assert '<li class="todo-completed">[x] Read (done)</li>' in body(TODOS)
        first, second, third = markdown(TODOS).split("\n")
        assert (first, second) == ("- [x] Read \\(done\\)", "- [ ] Write \\(in progress\\)")
        assert third.startswith("- [ ] \\<script\\>")

    def test_messages(self) -> None:
        assert '<div class="typed">What &lt;is&gt; it?</div>' in body(user_message("What <is> it?"))
        assert "It is <strong>this</strong>." in body(model_message("It is **this**."))
        call = model_message(FunctionCall("read_file", {"path": "a.txt"}, id="1"))
        assert "a.txt" in body(call)
        answer = user_message(FunctionResponse("read_file", {"output": "content"}, id="1"))
        assert "Result of read_file" in body(answer)
        assert "content" in body(answer)
        assert markdown(model_message("Hi")) == "## Model\n\nHi\n"

    def test_the_end_of_a_run(self) -> None:
        ended = RunEnded(EndReason.FINISHED, "It **works**.", usage=Usage(1000, 0, 50), cost=0.25, seconds=61)
        assert "It <strong>works</strong>." in body(ended)
        assert '<p class="figures">Session so far: 1,050 tokens · $0.25</p>' in body(ended)
        assert markdown(ended) == "It **works**.\n\n```\nfinished\nSession so far: 1,050 tokens · $0.25\n```"
        assert "figures" not in body(RunEnded(EndReason.FINISHED, "Good.", seconds=61))
        failed = RunEnded(EndReason.TURN_LIMIT, message="Too many turns.")
        assert "Too many turns." in body(failed)
        assert "Too many turns." in markdown(failed)

    def test_calls_plans_and_questions(self) -> None:
        call = FunctionCall("run_shell_command", {"command": "ls"}, id="1")
        finished = CallFinished(0, call, CallState.SUCCESS, ToolResult("a.txt", "a.txt"), (), 0.5)
        assert "a.txt" in body(finished)
        assert markdown(finished) == "**run_shell_command** (success)\n\n```\na.txt\n```"
        assert "<h3>Plan: /p.md</h3>" in body(PlanPresented("/p.md", "# Plan"))
        assert markdown(PlanPresented("/p.md", "# Plan")) == "# Plan"
        question = ApprovalRequest(ExecConfirmation("Run", "rm <x>", "/"), "run_shell_command")
        assert "rm &lt;x&gt;" in re.sub("</?span[^>]*>", "", body(question))
        assert markdown(question).startswith("```\n")
        assert "$ rm <x>" in markdown(question)
        asked = ApprovalRequest(AskUserConfirmation("t", (UserQuestion("Which?", "Database"),)), "ask_user")
        assert markdown(asked) == "```\nQuestion of the model\nWhich?\n```"
        elicited = ApprovalRequest(ElicitationConfirmation("t", "shop", "Your name?", {}), "shop__buy")
        assert "Your name?" in markdown(elicited)

    def test_other_values_have_no_html(self) -> None:
        for function in (value_html, value_markdown):
            with pytest.raises(TypeError, match="TextStreamed has no"):
                function(TextStreamed("x"))
        assert not hasattr(TextStreamed("x"), "_repr_html_")


HOSTILE_VALUES: list[RichValue] = [
    ToolResult(HOSTILE, HOSTILE),
    ToolResult([HOSTILE, InlineData(HOSTILE, b"")], FileDiff(HOSTILE, HOSTILE, HOSTILE, is_new_file=True)),
    ToolResult("", "", ToolError(HOSTILE, ErrorType.UNKNOWN)),
    ToolResult(f"```\n{HOSTILE}\n```\n{HOSTILE}"),
    TodoList((Todo(HOSTILE),)),
    user_message(HOSTILE, FunctionResponse(HOSTILE, {HOSTILE: HOSTILE})),
    model_message(HOSTILE, FunctionCall(HOSTILE, {HOSTILE: HOSTILE})),
    model_message(f"\\`{HOSTILE}`", f"\n\n> {HOSTILE}\n\n- x\n\n  {HOSTILE}"),
    RunEnded(EndReason.FAILED, HOSTILE, HOSTILE),
    PlanPresented(HOSTILE, HOSTILE),
    ApprovalRequest(ExecConfirmation(HOSTILE, HOSTILE, HOSTILE), HOSTILE, reason=HOSTILE),
]


@pytest.mark.parametrize("value", HOSTILE_VALUES, ids=lambda value: type(value).__name__)
def test_hostile_text_is_harmless(value: RichValue) -> None:
    shown = body(value)
    assert "<script" not in shown
    assert not re.search(r"<img(?! src=\"data:image/)", shown)
    assert not re.search(r"<[^>]*\son\w+=", shown)
    outside = re.sub(r"^(`{3,}).*?^\1$", "", markdown(value), flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"(?<!\\)<(?:script|img)", outside)


@pytest.mark.parametrize("cls", RICH, ids=lambda cls: cls.__name__)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_rich_value_is_shown_whatever_it_contains(cls: type[RichValue], data: st.DataObject) -> None:
    value = data.draw(instances(cls))
    assert body(value).count("<div") == body(value).count("</div")
    assert isinstance(markdown(value), str)


def test_the_rich_values() -> None:
    assert {cls.__name__ for cls in RICH} == {
        *("ApprovalRequest", "CallFinished", "FileDiff", "Message", "PlanPresented"),
        *("RunEnded", "TodoList", "ToolResult"),
    }
    assert isinstance(model_message("x"), Message)
