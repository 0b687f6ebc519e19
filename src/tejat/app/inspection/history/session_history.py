"""The history of one session, from the facts in its journal."""

from collections.abc import Iterable, Iterator, Sequence

from tejat.app.inspection.history.journal_scan import JournalScan, ScannedCall, ScannedRequest, ScannedRun, ScannedWait
from tejat.app.inspection.history.request_prices import RequestPrices
from tejat.core.agent.history.decisions import CallDecision
from tejat.core.agent.history.figures import (
    ApprovalCounts,
    ChangedFile,
    ModelUse,
    RunHistory,
    SessionHistory,
    SubagentUse,
    ToolUse,
)
from tejat.core.agent.history.timeline import RunTimeline, SpanKind, TimelineSpan
from tejat.core.i18n import _, ngettext
from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.message_json import usage_from_json
from tejat.core.undo import UndoEntry

_NOT_APPROVALS = frozenset({"ask_user", "elicitation"})
"""Questions that permit nothing."""


def build_history(scan: JournalScan, prices: RequestPrices, changes: Iterable[UndoEntry] = ()) -> SessionHistory:
    """Build the history of a session. `changes` are the entries of its undo log."""
    return SessionHistory(
        scan.session_id,
        scan.title,
        scan.root,
        scan.started,
        scan.last,
        runs=tuple(_build_run(scan, index, run, prices) for index, run in enumerate(scan.runs)),
        models=sum_models(scan.requests, prices, scan.model),
        tools=sum_tools(scan.calls),
        approvals=count_approvals(scan.calls, scan.waits),
        files=_sum_files(scan.calls, changes),
        agents=tuple(_build_agents(scan)),
        timelines=tuple(_build_timeline(scan, index, run) for index, run in enumerate(scan.runs)),
        notes=tuple(_notes(scan)),
    )


def sum_models(requests: Iterable[ScannedRequest], prices: RequestPrices, requested_model: str) -> tuple[ModelUse, ...]:
    """The requests by model, the most tokens first."""
    found: dict[str, ModelUse] = {}
    for request in requests:
        cost = prices.cost(request.usage, request.model, requested_model, request.at)
        timed = 0 if request.seconds is None else 1
        use = ModelUse(request.model, request.count, request.usage, cost, request.seconds, timed)
        found[request.model] = found.get(request.model, ModelUse(request.model)) + use
    return tuple(sorted(found.values(), key=lambda use: (-use.usage.total, use.model)))


def sum_tools(calls: Iterable[ScannedCall]) -> tuple[ToolUse, ...]:
    """The calls by tool, the most time first."""
    found: dict[str, ToolUse] = {}
    for call in calls:
        use = ToolUse(call.name, 1, int(call.is_failed), call.seconds, 0 if call.seconds is None else 1)
        found[call.name] = found.get(call.name, ToolUse(call.name)) + use
    return tuple(sorted(found.values(), key=lambda use: (-(use.seconds or 0.0), -use.calls, use.name)))


def count_approvals(calls: Sequence[ScannedCall], waits: Iterable[ScannedWait]) -> ApprovalCounts:
    """The decisions about these calls, and the questions."""
    decisions = [call.decision for call in calls if call.decision is not None]
    asked = list(waits)
    return ApprovalCounts(
        asked=sum(wait.subject not in _NOT_APPROVALS for wait in asked),
        once=decisions.count(CallDecision.ONCE),
        always=decisions.count(CallDecision.ALWAYS),
        rule=decisions.count(CallDecision.RULE),
        refused=decisions.count(CallDecision.REFUSED),
        denied=decisions.count(CallDecision.DENIED),
        waited=sum(wait.seconds for wait in asked),
        recorded=len(decisions),
        unrecorded=len(calls) - len(decisions),
    )


def _build_run(scan: JournalScan, index: int, run: ScannedRun, prices: RequestPrices) -> RunHistory:
    calls = [call for call in scan.calls if call.run == index]
    waits = [wait for wait in scan.waits if wait.run == index]
    is_known = all(call.decision is not None for call in calls)
    started, ended = _bounds(run)
    return RunHistory(
        index + 1,
        run.prompt,
        started,
        run.ended,
        None if run.ended is None else ended - started,
        run.reason,
        sum_models((request for request in scan.requests if request.run == index), prices, scan.model),
        len(calls),
        sum(wait.seconds for wait in waits) if is_known else None,
        run.retries,
    )


def _bounds(run: ScannedRun) -> tuple[float, float]:
    """Begin and end. A run begins before its prompt is recorded; without an end it lasts until its last record."""
    ended = run.last if run.ended is None else run.ended
    return min(run.started, ended if run.seconds is None else ended - run.seconds), ended


def _sum_files(calls: Iterable[ScannedCall], changes: Iterable[UndoEntry]) -> tuple[ChangedFile, ...]:
    """The changed files by path. Changes by commands are known from the undo log, without their lines."""
    found: dict[str, ChangedFile] = {}
    for call in calls:
        if call.file:
            before = found.get(call.file, ChangedFile(call.file, 0, 0, 0))
            added, removed = call.lines or (None, None)
            found[call.file] = ChangedFile(
                call.file, before.calls + 1, _plus(before.added, added), _plus(before.removed, removed)
            )
    for entry in changes:
        for change in () if entry.undoes else entry.own_changes:
            found.setdefault(change.full_path, ChangedFile(change.full_path))
    return tuple(sorted(found.values(), key=lambda file: file.path))


def _plus(some: int | None, more: int | None) -> int | None:
    return None if some is None or more is None else some + more


def _build_agents(scan: JournalScan) -> Iterator[SubagentUse]:
    for agent_id, agent in scan.agents.items():
        use = (agent_id, agent.name, agent.model, agent.prompt, agent.started)
        try:
            yield SubagentUse(*use) if agent.end is None else _ended_agent(use, agent.end)
        except ValueError:
            yield SubagentUse(*use)


def _ended_agent(use: tuple[str, str, str, str, float], end: JsonFields) -> SubagentUse:
    """Raises ValueError."""
    return SubagentUse(
        *use,
        end.string("reason"),
        end.number_or_none("seconds"),
        end.integer_or_none("turns"),
        end.integer_or_none("calls"),
        usage_from_json(end.object("usage")),
        end.number_or_none("cost"),
        end.integer_or_none("files"),
    )


def _build_timeline(scan: JournalScan, index: int, run: ScannedRun) -> RunTimeline:
    started, ended = _bounds(run)
    spans = sorted(_spans(scan, index, ended), key=lambda span: (span.start, -span.end))
    untimed = [request for request in scan.requests if request.run == index and not request.is_side]
    missing = sum(request.seconds is None for request in untimed)
    missing += sum(call.seconds is None for call in scan.calls if call.run == index)
    first = min([started, *(span.start for span in spans)])
    last = max([ended, *(span.end for span in spans)])
    return RunTimeline(index + 1, run.prompt, first, last, tuple(spans), missing)


def _spans(scan: JournalScan, index: int, ended: float) -> Iterator[TimelineSpan]:
    for request in scan.requests:
        if request.run == index and request.seconds is not None:
            start = request.at - request.seconds
            yield TimelineSpan(SpanKind.REQUEST, request.model, start, request.at, agent=request.agent)
    for call in scan.calls:
        if call.run == index and call.seconds is not None:
            yield TimelineSpan(SpanKind.CALL, call.name, call.at - call.seconds, call.at, call.state, call.agent)
    for wait in scan.waits:
        if wait.run == index:
            end = wait.start + wait.seconds
            label = wait.label or wait.subject
            yield TimelineSpan(SpanKind.WAIT, label, wait.start, end, wait.outcome, wait.agent)
    for agent_id, agent in scan.agents.items():
        if agent.run == index:
            end = max(agent.started, ended) if agent.ended is None else agent.ended
            reason = "" if agent.end is None else agent.end.string_or_none("reason") or ""
            yield TimelineSpan(SpanKind.AGENT, agent_id, agent.started, end, reason)


def _notes(scan: JournalScan) -> Iterator[str]:
    if scan.damaged:
        yield ngettext("Skipped {count} damaged record.", "Skipped {count} damaged records.", scan.damaged)
    untimed = sum(call.decision is None for call in scan.calls)
    if untimed and untimed == len(scan.calls):
        yield _("Times and approvals of tool calls were not recorded by the version that ran this session.")
    elif untimed:
        yield ngettext(
            "The time and approval of {count} tool call were not recorded.",
            "The times and approvals of {count} tool calls were not recorded.",
            untimed,
        )
