"""Finished calls: headline, reason, output, diff, todos and arguments."""

import pytest

from support.html_checks import HtmlCheck, text_of
from tejat.core.errors import ErrorType
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_events import CallFinished, CallState
from tejat.core.tools.display import DiffStat, FileDiff
from tejat.core.tools.todos import Todo, TodoList, TodoStatus
from tejat.ui.html.call_block import CallBlock
from tejat.ui.shared.calls.report import build_call_report

SHELL = FunctionCall("run_shell_command", {"command": "make"}, "1")


def finished(call: FunctionCall, result: ToolResult, *, seconds: float = 2.0, was_rejected: bool = False) -> str:
    state = CallState.SUCCESS if result.error is None else CallState.ERROR
    event = CallFinished(0, call, state, result, (), seconds, was_rejected=was_rejected)
    block = CallBlock(call, root="/w")
    block.finish(event)
    shown = block.render("b1")
    assert " ".join(build_call_report(event, folder="/w").headline.split()) in " ".join(text_of(shown).split())
    return shown


def error(kind: ErrorType, text: str = "It broke.") -> ToolResult:
    return ToolResult(text, text, ToolError(text, kind))


@pytest.mark.parametrize(
    ("result", "state", "sign"),
    [
        (ToolResult("x", "out\n", exit_code=0), "ok", "✓"),
        (ToolResult("x", "out\n", exit_code=2), "failed", "✗"),
        (error(ErrorType.EXECUTION_FAILED), "failed", "✗"),
        (error(ErrorType.POLICY_VIOLATION), "denied", "⊘"),
        (error(ErrorType.CANCELLED), "cancelled", "■"),
        (error(ErrorType.TIMEOUT), "timed-out", "◷"),
    ],
)
def test_every_outcome_has_a_sign_and_a_class(result: ToolResult, state: str, sign: str) -> None:
    check = HtmlCheck(finished(SHELL, result))
    assert check.tags[0][1]["class"] == f"block call {state}"
    assert check.text.startswith(sign)


def test_a_no_of_the_user_is_quiet() -> None:
    shown = finished(SHELL, error(ErrorType.EXECUTION_FAILED, "No. They said: Use ninja."), was_rejected=True)
    assert 'class="block call rejected"' in shown
    assert "You: Use ninja." in text_of(shown)


def test_long_output_is_an_excerpt_with_the_whole_on_demand() -> None:
    output = "\n".join(f"line {number}" for number in range(500))
    check = HtmlCheck(finished(SHELL, ToolResult("x", output, exit_code=0)))
    assert "… 492 more lines" in check.text
    assert "Whole output: 500 lines" in check.text
    assert check.text.count("line 499") == 2
    assert check.text.count("line 250") == 1


def test_errors_in_the_output_of_a_failure_stand_out() -> None:
    output = "start\nerror: no such thing\n" + "\n".join(f"line {number}" for number in range(100))
    assert '<span class="error">error: no such thing</span>' in finished(SHELL, ToolResult("x", output, exit_code=1))


def test_huge_output_is_cut() -> None:
    shown = finished(SHELL, ToolResult("x", "y" * 5_000_000 + "\nend", exit_code=0))
    assert len(shown) < 50_000


def test_a_diff_is_shown_and_a_long_one_on_demand() -> None:
    edit = FunctionCall("replace", {"file_path": "/w/a.py"}, "1")
    for lines, is_open in ((2, True), (200, False)):
        patch = f"@@ -0,0 +1,{lines} @@\n" + "".join(f"+x{number} = 1\n" for number in range(lines))
        diff = FileDiff("a.py", "/w/a.py", patch, False, diff_stat=DiffStat(lines, 0, 1, 1))
        shown = finished(edit, ToolResult("ok", diff))
        assert ("<details" not in shown) is is_open
        assert f"Edited a.py +{lines} -0" in text_of(shown)


def test_todos_are_a_list() -> None:
    todos = TodoList((Todo("Read", TodoStatus.COMPLETED), Todo("Write", TodoStatus.IN_PROGRESS)))
    shown = finished(FunctionCall("write_todos", {"todos": []}, "1"), ToolResult("ok", todos))
    assert '<li class="todo-completed">[x] Read (done)</li>' in shown
    assert "(1/2 done, " in text_of(shown)


def test_arguments_of_other_tools_are_shown_on_demand() -> None:
    call = FunctionCall("server__search", {"query": "x", "deep": {"a": [1]}}, "1")
    shown = finished(call, ToolResult("ok", "found\nit"))
    assert '"query": "x"' in text_of(shown)
    assert "<summary>Arguments</summary>" in shown


def test_a_command_of_several_lines_is_shown_whole_on_demand() -> None:
    call = FunctionCall("run_shell_command", {"command": "cd a\nmake <x>"}, "1")
    assert "cd a\nmake <x>" in text_of(finished(call, ToolResult("ok", "out\n", exit_code=0)))


def test_what_was_read_is_shown_on_demand() -> None:
    call = FunctionCall("read_file", {"file_path": "/w/a.py"}, "1")
    shown = finished(call, ToolResult("one\ntwo", ""))
    assert "Result: 2 lines" in text_of(shown)
    assert shown.count("<details") == 1
