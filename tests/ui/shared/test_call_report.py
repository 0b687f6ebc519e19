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
from tejat.ui.shared.call_report import (
    MAX_BODY_CHARS,
    CallReport,
    CallStatus,
    build_call_report,
    call_title,
    status_label,
)


def shell(result: ToolResult, *, seconds: float = 0.25) -> CallReport:
    return build_call_report(call_finished(SHELL, result, seconds=seconds))


def failed(kind: ErrorType, message: str = "for the model", display: str = "for the person") -> ToolResult:
    return ToolResult(message, display, ToolError(message, kind))


class TestStatus:
    def test_a_call_that_went_well(self) -> None:
        assert build_call_report(READ_FINISHED) == CallReport(
            CallStatus.OK, "read_file", "a.txt", 0.25, note="Read lines 1-2"
        )

    def test_a_change_shows_its_hunks(self) -> None:
        expected = CallReport(CallStatus.OK, "replace", "a.txt", 0.25, diff="-a\n+b", line_counts="+3 -1")
        assert build_call_report(EDIT_FINISHED) == expected
        assert expected.title == "replace a.txt +3 -1"

    def test_a_change_by_model_and_person_counts_both(self) -> None:
        event = call_finished(EDIT, ToolResult("ok", diff(by_user=2)))
        assert build_call_report(event).line_counts == "+5 -1"

    def test_a_failure_is_told_in_the_words_for_people(self) -> None:
        assert build_call_report(READ_FAILED) == CallReport(
            CallStatus.FAILED, "read_file", "a.txt", 0.25, error="File not found."
        )

    def test_a_denial_of_the_rules(self) -> None:
        expected = CallReport(CallStatus.DENIED, "run_shell_command", "make", 0.0, error=f"{DENIED} Hint.")
        assert build_call_report(SHELL_REFUSED) == expected

    def test_a_no_of_the_person_is_a_denial_and_shows_what_it_was_about(self) -> None:
        no = ToolError("[Operation Cancelled] They said no.", ErrorType.CANCELLED)
        event = replace(call_finished(EDIT, ToolResult("no", diff(), no), seconds=0.0), was_rejected=True)
        report = build_call_report(event)
        assert (report.status, report.error, report.diff) == (CallStatus.DENIED, "You did not allow it.", "-a\n+b")

    def test_a_cancelled_one_keeps_what_there_was(self) -> None:
        report = shell(ToolResult("x", "one\ntwo", ToolError("Cancelled.", ErrorType.CANCELLED)))
        assert (report.status, report.error, report.body) == (CallStatus.CANCELLED, "", "one\ntwo")

    def test_one_that_took_too_long(self) -> None:
        message = "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes."
        report = shell(failed(ErrorType.TIMEOUT, message, f"half\n{message}"), seconds=300.2)
        assert (report.status, report.error, report.facts) == (CallStatus.TIMED_OUT, message, ("5 min 0 s",))
        assert report.body == f"half\n{message}"

    def test_what_is_said_once_is_not_said_twice(self) -> None:
        report = shell(failed(ErrorType.TIMEOUT, "Too late.", "Too late."))
        assert (report.error, report.body) == ("Too late.", "")

    def test_bad_arguments(self) -> None:
        report = build_call_report(
            call_finished(CALL, failed(ErrorType.INVALID_TOOL_PARAMS, display="'path' is missing"))
        )
        assert (report.status, report.error) == (CallStatus.FAILED, "Bad arguments: 'path' is missing")

    def test_an_unknown_tool(self) -> None:
        call = FunctionCall("no_such_tool", {"a": 1})
        report = build_call_report(call_finished(call, failed(ErrorType.TOOL_NOT_REGISTERED, display="There is none.")))
        assert (report.status, report.title, report.error) == (
            CallStatus.FAILED,
            'no_such_tool {"a": 1}',
            "There is none.",
        )

    def test_of_a_long_error_the_first_line_is_the_reason(self) -> None:
        report = build_call_report(
            call_finished(CALL, failed(ErrorType.MCP_TOOL_ERROR, display="It broke.\nat a\nat b"))
        )
        assert (report.error, report.body) == ("It broke.", "at a\nat b")

    def test_what_was_cancelled_before_it_ran_has_nothing_to_show(self) -> None:
        report = shell(ToolResult("x", "Cancelled.", ToolError("x", ErrorType.CANCELLED)), seconds=0.0)
        assert (report.error, report.note, report.body) == ("", "", "")

    def test_an_error_without_words_for_people(self) -> None:
        assert shell(failed(ErrorType.UNKNOWN, "only this", " ")).error == "only this"

    @pytest.mark.parametrize("status", CallStatus)
    def test_each_has_a_word(self, status: CallStatus) -> None:
        assert status_label(status) == status.value


class TestCommands:
    @pytest.mark.parametrize(
        ("code", "status", "facts"),
        [
            (0, CallStatus.OK, ("0.2 s",)),
            (2, CallStatus.FAILED, ("exit code 2", "0.2 s")),
            (-9, CallStatus.FAILED, ("ended by SIGKILL", "0.2 s")),
            (-99, CallStatus.FAILED, ("ended by signal 99", "0.2 s")),
            (None, CallStatus.OK, ("0.2 s",)),
        ],
    )
    def test_exit_codes(self, code: int | None, status: CallStatus, facts: tuple[str, ...]) -> None:
        report = shell(ToolResult("x", "printed", exit_code=code))
        assert (report.status, report.facts, report.body) == (status, facts, "printed")

    def test_a_single_line_of_output_is_no_note(self) -> None:
        report = shell(ToolResult("x", "hello\n"))
        assert (report.note, report.body) == ("", "hello")

    def test_what_never_ran_took_no_time(self) -> None:
        assert shell(failed(ErrorType.POLICY_VIOLATION), seconds=0.0).facts == ()


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
            shown = (report.title, report.error, report.note, report.body, report.diff, call_title(call))
            assert all(text.replace("\n", "").isprintable() for text in shown)
            assert "<U+001B>" in report.title

    def test_what_is_endless_is_bounded(self) -> None:
        report = shell(ToolResult("x", "y\n" * MAX_BODY_CHARS))
        assert len(report.body) <= MAX_BODY_CHARS
        report = shell(failed(ErrorType.UNKNOWN, "z" * 10_000, ""))
        assert report.error == f"{'z' * 500} [...]"
