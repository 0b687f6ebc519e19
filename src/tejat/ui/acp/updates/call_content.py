"""Finished calls and sub-agents as content of tool calls."""

from collections.abc import Iterator, Mapping, Sequence

from tejat.core.agent.subagent_events import AgentEnded
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.messages.types import FunctionCall, FunctionResponse, JsonObject, JsonValue
from tejat.core.sanitize import sanitize_text
from tejat.core.tools.call_events import CallFinished
from tejat.core.tools.display import FileDiff
from tejat.ui.acp.updates.content_blocks import (
    change_content,
    code_content,
    keep_head,
    keep_tail,
    media_blocks,
    raw_value,
    text_content,
)
from tejat.ui.shared.calls.agent_progress import AgentProgress, agent_end_labels, agent_error
from tejat.ui.shared.calls.outcome import CallStatus
from tejat.ui.shared.calls.report import CallReport, build_call_report
from tejat.ui.shared.calls.title import TitleForm, call_title

_MAX_AGENT_CALLS = 10
"""Calls of a running sub-agent that are shown."""


class EndedCall(Frozen):
    """The end of a call: its status in the protocol, what is shown, and what the model got."""

    status: str
    content: tuple[JsonObject, ...]
    raw_output: JsonValue


def finished_call(
    finished: CallFinished,
    *,
    folder: str,
    is_markdown: bool,
    has_terminal: bool = False,
    agent: AgentEnded | None = None,
) -> EndedCall:
    """Describe the end of a call. Its output is left out if a terminal has shown it. `agent` is the one it ran."""
    report = build_call_report(finished, folder=folder)
    content = (
        *_change(finished),
        *_words(report, finished.call, folder),
        *(() if has_terminal else _body(report, is_markdown=is_markdown)),
        *({"type": "content", "content": block} for block in media_blocks(finished.result.llm_content)),
        *(() if agent is None else _agent_end(agent)),
    )
    status = "completed" if report.status is CallStatus.OK else "failed"
    return EndedCall(status, content, _raw_output(finished))


def agent_text(progress: AgentProgress) -> str:
    """What a running sub-agent does, as Markdown."""
    calls = [
        _("{call} (running)", call=call.text) if call.status is None else call.text
        for call in progress.latest_calls(_MAX_AGENT_CALLS)
    ]
    return "\n".join((progress.task, "", *(f"- {call}" for call in calls), "", ", ".join(progress.figures)))


def _change(finished: CallFinished) -> Iterator[JsonObject]:
    display = finished.result.return_display
    if isinstance(display, FileDiff):
        yield change_content(display.file_path, display.file_diff, display.original_content, display.new_content)


def _words(report: CallReport, call: FunctionCall, folder: str) -> Iterator[JsonObject]:
    """What became of the call in a few lines, without what its title says already."""
    planned = call_title(call, TitleForm.PLANNED, folder=folder).details
    outcome = ", ".join(detail for detail in report.title.details if detail not in planned)
    feedback = _("You: {words}", words=report.feedback) if report.feedback else ""
    lines = filter(None, (outcome, report.reason, report.note, feedback))
    if text := "\n\n".join(lines):
        yield text_content(text)


def _body(report: CallReport, *, is_markdown: bool) -> Iterator[JsonObject]:
    if not report.body:
        return
    if report.is_exploration:
        yield code_content(keep_head(report.body))
    elif is_markdown and report.status is CallStatus.OK:
        yield text_content(keep_head(report.body))
    else:
        yield code_content(keep_tail(report.body))


def _agent_end(agent: AgentEnded) -> Iterator[JsonObject]:
    lines = filter(None, (", ".join(agent_end_labels(agent)), agent_error(agent)))
    yield text_content("\n\n".join(map(sanitize_text, lines)))
    if agent.patch:
        yield text_content(_("These changes of {agent} were not kept:", agent=agent.agent_id))
        yield code_content(keep_head(agent.patch), "diff")


def _raw_output(finished: CallFinished) -> JsonValue:
    """What the model got, with the exit code of a command."""
    responses: Sequence[FunctionResponse] = [part for part in finished.response if isinstance(part, FunctionResponse)]
    output: Mapping[str, JsonValue] = responses[0].response if responses else {}
    code = finished.result.exit_code
    return raw_value(output if code is None else {**output, "exitCode": code})
