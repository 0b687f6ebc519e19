"""Running and ended sub-agents, the same for every interactive user interface."""

from tejat.core.agent.events import AgentEvent, Answered
from tejat.core.agent.subagent_events import AgentEnded, AgentStarted
from tejat.core.agent.subagents import SubagentEnd
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, ngettext, translate
from tejat.core.tools.call_events import CallFinished, CallState, StateChanged
from tejat.ui.shared.calls.outcome import CallStatus
from tejat.ui.shared.calls.report import CallReport, build_call_report
from tejat.ui.shared.calls.title import TitleForm, call_title
from tejat.ui.shared.labels.durations import format_duration
from tejat.ui.shared.labels.run_summary import format_cost
from tejat.ui.shared.labels.text_summary import summarize_line

_COMPLETE_TASK = "complete_task"
_MAX_TASK_CHARS = 200


class AgentCall(Frozen):
    """A call of an agent in one line. One that still runs has no status."""

    text: str
    status: CallStatus | None = None


class AgentProgress:
    """What a running agent has done so far. Paths below `folder` are shown relative to it."""

    def __init__(self, started: AgentStarted, *, since: float, folder: str = "") -> None:
        self.agent_id = started.agent_id
        self.call_id = started.call_id
        self.task = summarize_line(started.prompt.strip().partition("\n")[0], limit=_MAX_TASK_CHARS)
        self.since = since
        self.turns = self.tokens = 0
        self.reports: list[CallReport] = []
        self._folder = folder
        self._running: dict[int, str] = {}

    def record(self, event: AgentEvent) -> None:
        """Count an event from inside the agent."""
        match event:
            case Answered(answer=answer):
                self.turns += 1
                self.tokens += answer.usage.total
            case StateChanged(index, call, CallState.EXECUTING) if call.name != _COMPLETE_TASK:
                self._running[index] = str(call_title(call, TitleForm.RUNNING, folder=self._folder))
            case CallFinished(index, call):
                self._running.pop(index, None)
                if call.name != _COMPLETE_TASK:
                    self.reports.append(build_call_report(event, folder=self._folder))
            case _:
                pass

    def latest_calls(self, limit: int) -> list[AgentCall]:
        """The last calls, those that still run at the end."""
        done = [AgentCall(report.headline, report.status) for report in self.reports[-limit:]]
        running = [AgentCall(text) for _index, text in sorted(self._running.items())]
        return [*done, *running][-limit:]

    @property
    def figures(self) -> tuple[str, str]:
        """The turns and tokens so far."""
        return ngettext("{count} turn", "{count} turns", self.turns), _token_label(self.tokens)


def agent_status(ended: AgentEnded) -> CallStatus:
    """How a run ended, in the terms of calls."""
    match ended.reason:
        case SubagentEnd.GOAL:
            return CallStatus.OK
        case SubagentEnd.ABORTED:
            return CallStatus.CANCELLED
        case SubagentEnd.TIMEOUT:
            return CallStatus.TIMED_OUT
        case _:
            return CallStatus.FAILED


def agent_end_labels(ended: AgentEnded) -> list[str]:
    """The end of a run in short texts: name and outcome, calls, tokens, cost, files, time."""
    outcome = _("ok") if ended.reason is SubagentEnd.GOAL else ended.reason.value
    labels = [f"{outcome} {ended.agent_name}", ngettext("{count} call", "{count} calls", ended.calls)]
    labels.append(_token_label(ended.usage.total))
    if ended.cost:
        labels.append(format_cost(ended.cost))
    if ended.files_changed:
        labels.append(ngettext("{count} file changed", "{count} files changed", ended.files_changed))
    return [*labels, format_duration(ended.seconds)]


def agent_error(ended: AgentEnded) -> str:
    """What went wrong in one line, empty if nothing did."""
    return "" if ended.reason is SubagentEnd.GOAL else summarize_line(translate(ended.error), limit=500)


def _token_label(tokens: int) -> str:
    return ngettext("{count} token", "{count} tokens", tokens)
