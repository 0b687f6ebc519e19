"""One event of every kind for front ends, and recorded output."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import get_args

from tejat.core.agent.events import (
    AgentEvent,
    Answered,
    AwaitingModel,
    Compressed,
    CompressionStarted,
    CompressionStatus,
    EndReason,
    HistoryRepaired,
    LoopDetected,
    ModelChanged,
    Noticed,
    PlanPresented,
    Prompted,
    QuestionAnswered,
    QuestionAsked,
    RequestFailed,
    Retrying,
    RunEnded,
    SessionStarted,
    Severity,
    Steered,
    TextStreamed,
    ThoughtStreamed,
)
from tejat.core.agent.questions import PendingQuestion
from tejat.core.agent.subagent_events import AgentActivity, AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, InfoConfirmation, Outcome
from tejat.core.errors import ErrorType
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData, Part
from tejat.core.model import FailureKind, ModelResponse, Usage
from tejat.core.tools.base import ToolError, ToolResult
from tejat.core.tools.call_events import BY_USER, CallFinished, CallState, OutputUpdated, StateChanged
from tejat.core.tools.display import DiffStat, FileDiff
from tejat.ui.headless.output import Output, OutputStreams

TIMESTAMP = 1_700_000_000.1239
CALL = FunctionCall("read_file", {"path": "a.txt"}, "call-1")
EDIT = FunctionCall("replace", {"file_path": "a.txt"}, "call-2")
SHELL = FunctionCall("run_shell_command", {"command": "make"}, "call-3")
DENIED = 'Tool execution for "Shell" requires user confirmation, which is not supported in non-interactive mode.'


def call_finished(
    call: FunctionCall, result: ToolResult, *parts: Part, seconds: float = 0.25, allowed_by: str = ""
) -> CallFinished:
    if result.error is None:
        state = CallState.SUCCESS
    else:
        state = CallState.CANCELLED if result.error.type is ErrorType.CANCELLED else CallState.ERROR
    return CallFinished(0, call, state, result, parts, seconds, allowed_by)


def function_response(call: FunctionCall, text: str, key: str = "output") -> FunctionResponse:
    return FunctionResponse(call.name, {key: text}, call.id)


def diff(*, by_user: int = 0) -> FileDiff:
    return FileDiff(
        file_name="a.txt",
        file_path="/w/a.txt",
        file_diff="-a\n+b\n",
        is_new_file=False,
        diff_stat=DiffStat(3, 1, 10, 10, user_added_lines=by_user),
    )


READ_FINISHED = call_finished(
    CALL,
    ToolResult("one\ntwo", "Read lines 1-2"),
    function_response(CALL, "one\ntwo"),
    InlineData("image/png", b"123"),
    allowed_by="the default rules",
)
EDIT_FINISHED = call_finished(EDIT, ToolResult("ok", diff()), function_response(EDIT, "ok"), allowed_by=BY_USER)
SHELL_REFUSED = call_finished(
    SHELL,
    ToolResult(DENIED, f"{DENIED} Hint.", ToolError(DENIED, ErrorType.POLICY_VIOLATION)),
    function_response(SHELL, DENIED, "error"),
    seconds=0.0,
)
READ_FAILED = call_finished(
    CALL,
    ToolResult("no", "File not found.", ToolError("no such file: a.txt", ErrorType.FILE_NOT_FOUND)),
    function_response(CALL, "no such file: a.txt", "error"),
    allowed_by="the default rules",
)
STARTED = SessionStarted("id-1", "gemini-test")
PROMPTED = Prompted(user_message("see @a.txt", "\ncontent"), "see @a.txt")
FIRST_ANSWER = Answered(
    ModelResponse(model_message("I \x1b[31mlook\x1b[0m.", CALL, EDIT), usage=Usage(10, 4, 5, 2, 1)), 0.5
)
LAST_ANSWER = Answered(
    ModelResponse(model_message("Done.\nReally."), usage=Usage(20, 8, 6), model="gemini-test-002"), 0.25
)
SUMMARY_ANSWER = Answered(ModelResponse(model_message("A summary.", CALL), usage=Usage(3, 0, 2)), 0.125, "summary")
RETRYING = Retrying(FailureKind.RATE_LIMITED, "The service is busy.", 1, 5, 2.3456)
ENDED = RunEnded(
    EndReason.FINISHED,
    text="I \x1b[31mlook\x1b[0m.\nDone.\nReally.",
    usage=Usage(33, 12, 13, 2, 1),
    cost=0.01234567,
    turns=2,
    seconds=1.2344,
)
FAILED = RunEnded(
    EndReason.MODEL_FAILED, text="I look.", message="The service is down.", seconds=2.0, failure=FailureKind.UNAVAILABLE
)

ALL_EVENTS: tuple[AgentEvent, ...] = (
    STARTED,
    HistoryRepaired(("Removed an empty message.", "Assigned a call its own id.")),
    Noticed("This folder is not trusted.", Severity.NOTE),
    PROMPTED,
    ThoughtStreamed("Hm."),
    TextStreamed("I \x1b[31m"),
    RETRYING,
    AwaitingModel(15.2, 3900),
    TextStreamed("I \x1b[31mlook"),
    TextStreamed("\x1b[0m."),
    FIRST_ANSWER,
    StateChanged(0, CALL, CallState.EXECUTING),
    OutputUpdated(0, CALL, "half"),
    READ_FINISHED,
    EDIT_FINISHED,
    SHELL_REFUSED,
    READ_FAILED,
    Steered("And be quick."),
    SUMMARY_ANSWER,
    RequestFailed(FailureKind.BLOCKED, "Blocked.", 0.0625, "summary"),
    ModelChanged("gemini-test", "gemini-small", "It is busy."),
    CompressionStarted(),
    Compressed(1000, 100, CompressionStatus.COMPRESSED),
    Compressed(1000, 1000, CompressionStatus.FAILED, "No summary."),
    Compressed(1000, 1000, CompressionStatus.NOT_NEEDED, "Too little."),
    LoopDetected("The same again.", ends_run=False),
    Noticed("The disk is nearly full.", Severity.WARNING),
    Noticed("The disk is full.", Severity.ERROR),
    QuestionAsked(PendingQuestion("q1", ApprovalRequest(InfoConfirmation("Confirm", "Go on?"), "note"), 0.0)),
    QuestionAnswered("q1", ApprovalReply(Outcome.PROCEED_ONCE)),
    PlanPresented("/home/u/plans/plan.md", "# Plan\n", "default"),
    AgentStarted("reader#1", "reader", "call-1", "Find the parser.", "gemini-test"),
    AgentActivity("reader#1", "reader", TextStreamed("Inside.")),
    AgentEnded("reader#1", "reader", SubagentEnd.GOAL, turns=1, usage=Usage(5, 0, 3), cost=0.001, seconds=0.5),
    TextStreamed("Done.\n"),
    TextStreamed("Really."),
    LAST_ANSWER,
    ENDED,
)

assert {type(event) for event in ALL_EVENTS} == set(get_args(AgentEvent)), "there are other kinds of events now"


@dataclass
class RecordedOutput:
    """Standard output and standard error."""

    stdout: str = ""
    stderr: list[str] = field(default_factory=list[str])

    def streams(self, *, is_terminal: bool = False, reports_durations: bool = True) -> OutputStreams:
        return OutputStreams(
            self._take_result,
            self.stderr.append,
            is_terminal=is_terminal,
            now=lambda: TIMESTAMP,
            reports_durations=reports_durations,
        )

    def _take_result(self, text: str) -> None:
        self.stdout += text


def render_events(make: Callable[[OutputStreams], Output], *events: AgentEvent, **how: bool) -> RecordedOutput:
    """The output for these events."""
    written = RecordedOutput()
    output = make(written.streams(**how))
    for event in events:
        output.handle_event(event)
    return written
