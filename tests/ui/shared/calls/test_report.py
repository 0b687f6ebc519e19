"""Reports on finished tool calls."""

import pytest

from support.sample_events import (
    CALL,
    DENIED,
    EDIT,
    EDIT_FINISHED,
    READ_FAILED,
    READ_FINISHED,
    SHELL,
    SHELL_REFUSED,
    call_finished,
    diff,
)
from tejat.core.errors import ErrorType
from tejat.core.frozen import replace
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolError, ToolResult
from tejat.ui.shared.calls.outcome import CallStatus
from tejat.ui.shared.calls.report import MAX_BODY_CHARS, CallReport, build_call_report
from tejat.ui.shared.calls.title import TitleForm, call_title


def shell(result: ToolResult, *, seconds: float = 0.25) -> CallReport:
    return build_call_report(call_finished(SHELL, result, seconds=seconds))


def failed(kind: ErrorType, message: str = "for the model", display: str = "for the user") -> ToolResult:
    return ToolResult(message, display, ToolError(message, kind))


class TestStatus:
    def test_a_success(self) -> None:
        report = build_call_report(READ_FINISHED)
        assert (report.status, report.headline, report.body) == (CallStatus.OK, "Read a.txt", "one\ntwo")

    def test_a_change(self) -> None:
        report = build_call_report(EDIT_FINISHED)
        assert (report.status, report.headline, report.diff) == (CallStatus.OK, "Edited a.txt +3 -1", "-a\n+b\n")

    def test_a_change_by_model_and_user_counts_what_came_of_it(self) -> None:
        changed = replace(diff(by_user=2), file_diff="@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n")
        assert build_call_report(call_finished(EDIT, ToolResult("ok", changed))).line_counts == "+2 -1"

    def test_a_new_file(self) -> None:
        call = FunctionCall("write_file", {"file_path": "notes.txt"})
        report = build_call_report(call_finished(call, ToolResult("ok", replace(diff(), is_new_file=True))))
        assert report.headline == "Created notes.txt +3"

    def test_a_new_file_from_an_edit(self) -> None:
        call = FunctionCall("replace", {"file_path": "notes.txt", "old_string": "", "new_string": "a\nb\n"})
        report = build_call_report(call_finished(call, ToolResult("ok", "Created notes.txt")))
        assert (report.headline, report.note) == ("Created notes.txt +2", "")

    def test_a_failure_has_its_reason_in_words(self) -> None:
        report = build_call_report(READ_FAILED)
        assert (report.status, report.headline, report.reason) == (
            CallStatus.FAILED,
            "Read a.txt (failed)",
            "File not found.",
        )

    def test_a_failed_edit_changed_nothing(self) -> None:
        event = call_finished(EDIT, failed(ErrorType.EDIT_NO_OCCURRENCE_FOUND, display="Error: Could not find it."))
        report = build_call_report(event)
        assert (report.headline, report.reason) == ("Edit a.txt (failed)", "Could not find it.")

    def test_a_denial_of_the_rules(self) -> None:
        report = build_call_report(SHELL_REFUSED)
        assert (report.status, report.headline) == (CallStatus.DENIED, "Run make (denied)")
        assert report.reason == f"{DENIED} Hint."

    def test_the_users_own_no_is_no_failure(self) -> None:
        no = ToolError("[Operation Cancelled] Reason: User did not allow tool call.", ErrorType.CANCELLED)
        event = replace(call_finished(EDIT, ToolResult("no", diff(), no), seconds=0.0), was_rejected=True)
        report = build_call_report(event)
        assert (report.status, report.headline) == (
            CallStatus.REJECTED,
            "Edit a.txt +3 -1 (not run: you said no)",
        )
        assert (report.reason, report.feedback, report.diff) == ("", "", "-a\n+b\n")

    @pytest.mark.parametrize(("is_new", "title"), [(False, "Edit a.txt +3 -1"), (True, "Create a.txt +3")])
    def test_a_rejected_write_has_the_title_of_its_question(self, is_new: bool, title: str) -> None:
        no = ToolError("[Operation Cancelled] Reason: User did not allow tool call.", ErrorType.CANCELLED)
        call = FunctionCall("write_file", {"file_path": "a.txt"})
        shown = replace(diff(), is_new_file=is_new)
        event = replace(call_finished(call, ToolResult("no", shown, no), seconds=0.0), was_rejected=True)
        assert build_call_report(event).headline == f"{title} (not run: you said no)"

    def test_a_stop_at_the_question_is_no_no(self) -> None:
        no = ToolError("[Operation Cancelled] Reason: User did not allow tool call.", ErrorType.CANCELLED)
        event = call_finished(SHELL, ToolResult("no", "You rejected this call.", no), seconds=0.0)
        report = build_call_report(replace(event, was_rejected=True, ended_turn=True))
        assert (report.status, report.headline, report.note) == (CallStatus.REJECTED, "Run make (not run)", "")

    def test_a_no_with_words(self) -> None:
        message = "[Operation Cancelled] Reason: User did not allow tool call. They said: use\x1b decimals"
        no = ToolError(message, ErrorType.CANCELLED)
        event = replace(call_finished(SHELL, ToolResult("no", "", no), seconds=0.0), was_rejected=True)
        assert build_call_report(event).feedback == "use<U+001B> decimals"

    def test_a_cancelled_call_keeps_its_output(self) -> None:
        report = shell(ToolResult("x", "one\ntwo", ToolError("Cancelled.", ErrorType.CANCELLED)), seconds=12)
        assert (report.status, report.reason, report.body) == (CallStatus.CANCELLED, "", "one\ntwo")
        assert report.headline == "Ran make (stopped after 12 s)"

    def test_a_cancelled_command_without_output(self) -> None:
        report = shell(ToolResult("x", "Command cancelled by user.", ToolError("x", ErrorType.CANCELLED)), seconds=12)
        assert (report.headline, report.body) == ("Ran make (stopped after 12 s)", "")

    def test_a_call_that_was_cancelled_before_it_ran(self) -> None:
        report = shell(ToolResult("x", "Cancelled.", ToolError("x", ErrorType.CANCELLED)), seconds=0.0)
        assert (report.headline, report.reason, report.note, report.body) == ("Run make (not run)", "", "", "")

    def test_a_timeout(self) -> None:
        message = "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes."
        report = shell(failed(ErrorType.TIMEOUT, message, f"half\n{message}"), seconds=300.2)
        assert (report.status, report.headline) == (CallStatus.TIMED_OUT, "Ran make (timed out after 5 min)")
        assert (report.reason, report.body) == (message, "half")

    def test_nothing_is_repeated(self) -> None:
        report = shell(failed(ErrorType.TIMEOUT, "Too late.", "Too late."))
        assert (report.reason, report.body) == ("Too late.", "")

    def test_invalid_arguments(self) -> None:
        report = build_call_report(
            call_finished(CALL, failed(ErrorType.INVALID_TOOL_PARAMS, display="'path' is missing"))
        )
        assert (report.status, report.reason) == (CallStatus.FAILED, "Invalid arguments: 'path' is missing")

    def test_an_unknown_tool(self) -> None:
        call = FunctionCall("no_such_tool", {"a": 1})
        event = call_finished(call, failed(ErrorType.TOOL_NOT_REGISTERED), seconds=0.0)
        report = build_call_report(event)
        assert (report.status, report.headline) == (CallStatus.FAILED, "Call no_such_tool a=1 (failed)")
        assert report.reason == "The model called no_such_tool, which does not exist."

    def test_the_first_line_of_a_long_error_is_the_reason(self) -> None:
        report = build_call_report(
            call_finished(CALL, failed(ErrorType.MCP_TOOL_ERROR, display="It broke.\nat a\nat b"))
        )
        assert (report.reason, report.body) == ("It broke.", "at a\nat b")

    def test_an_error_without_words_for_users(self) -> None:
        assert shell(failed(ErrorType.UNKNOWN, "only this", " ")).reason == "only this"


class TestCommands:
    @pytest.mark.parametrize(
        ("code", "status", "headline"),
        [
            (0, CallStatus.OK, "Ran make (2.1 s)"),
            (2, CallStatus.FAILED, "Ran make (exit 2, 2.1 s)"),
            (-9, CallStatus.FAILED, "Ran make (killed by SIGKILL, 2.1 s)"),
            (-99, CallStatus.FAILED, "Ran make (killed by signal 99, 2.1 s)"),
            (None, CallStatus.OK, "Ran make (2.1 s)"),
        ],
    )
    def test_exit_codes(self, code: int | None, status: CallStatus, headline: str) -> None:
        report = shell(ToolResult("x", "printed", exit_code=code), seconds=2.1)
        assert (report.status, report.headline, report.body) == (status, headline, "printed")

    def test_a_single_line_of_output_is_no_note(self) -> None:
        report = shell(ToolResult("x", "hello\n"))
        assert (report.note, report.body) == ("", "hello")

    def test_short_durations_are_not_shown(self) -> None:
        assert shell(ToolResult("x", "hello\n", exit_code=0)).headline == "Ran make"


HOSTILE = "a\x1b]0;title\x07\u202eb\r\x9b2Jc"


class TestHostileText:
    def test_nothing_of_it_reaches_a_terminal(self) -> None:
        call = FunctionCall(HOSTILE, {HOSTILE: HOSTILE}, HOSTILE)
        change = replace(diff(), file_diff=f"@@ -1 +1 @@\n-{HOSTILE}\n+x\n", file_name=HOSTILE)
        error = ToolError(HOSTILE, ErrorType.EXECUTION_FAILED)
        for result in (
            ToolResult(HOSTILE, HOSTILE),
            ToolResult(HOSTILE, f"{HOSTILE}\n{HOSTILE}"),
            ToolResult(HOSTILE, change),
            ToolResult(HOSTILE, HOSTILE, error),
            ToolResult(HOSTILE, "", error),
        ):
            report = build_call_report(call_finished(call, result))
            running = str(call_title(call, TitleForm.RUNNING))
            shown = (report.headline, report.reason, report.note, report.body, running)
            assert all(text.replace("\n", "").isprintable() for text in shown)
            assert "<U+001B>" in report.headline

    def test_endless_text_is_bounded(self) -> None:
        report = shell(ToolResult("x", "y\n" * MAX_BODY_CHARS))
        assert len(report.body) <= MAX_BODY_CHARS
        report = shell(failed(ErrorType.UNKNOWN, "z" * 10_000, ""))
        assert report.reason == f"{'z' * 500} [...]"
