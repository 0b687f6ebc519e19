"""Figures of sessions as JSON. Null means that something was not recorded or is unknown."""

from tejat.core.agent.history.figures import ApprovalCounts, ModelUse, RunHistory, SessionHistory, SubagentUse, ToolUse
from tejat.core.agent.history.totals import HistoryOverview, PeriodTotals
from tejat.core.messages.message_json import usage_to_json
from tejat.core.messages.types import JsonObject


def history_to_json(history: SessionHistory) -> JsonObject:
    """The figures of one session, with the timeline of each run."""
    return {
        "session_id": history.session_id,
        "title": history.title,
        "project": history.root,
        "started": history.started,
        "ended": history.ended,
        "tokens": usage_to_json(history.usage),
        "cost": history.cost,
        "runs": [_run(run) for run in history.runs],
        "models": [_model(use) for use in history.models],
        "tools": [_tool(use) for use in history.tools],
        "approvals": _approvals(history.approvals),
        "files": [
            {"path": file.path, "calls": file.calls, "added": file.added, "removed": file.removed}
            for file in history.files
        ],
        "agents": [_agent(agent) for agent in history.agents],
        "timelines": [
            {
                "run": timeline.number,
                "started": timeline.started,
                "ended": timeline.ended,
                "missing": timeline.missing,
                "spans": [
                    {
                        "kind": span.kind.value,
                        "label": span.label,
                        "start": span.start,
                        "end": span.end,
                        "outcome": span.outcome or None,
                        "agent": span.agent or None,
                    }
                    for span in timeline.spans
                ],
            }
            for timeline in history.timelines
        ],
        "notes": list(history.notes),
    }


def overview_to_json(overview: HistoryOverview) -> JsonObject:
    """The figures of many sessions."""
    return {
        "total": _totals(overview.total),
        "days": [{"day": day.name, **_totals(day)} for day in overview.days],
        "projects": [{"project": project.name, **_totals(project)} for project in overview.projects],
        "notes": list(overview.notes),
    }


def _totals(totals: PeriodTotals) -> JsonObject:
    return {
        "sessions": totals.sessions,
        "runs": totals.runs,
        "tokens": usage_to_json(totals.usage),
        "cost": totals.cost,
        "models": [_model(use) for use in totals.models],
        "tools": [_tool(use) for use in totals.tools],
        "approvals": _approvals(totals.approvals),
    }


def _run(run: RunHistory) -> JsonObject:
    return {
        "number": run.number,
        "prompt": run.prompt,
        "started": run.started,
        "ended": run.ended,
        "seconds": run.seconds,
        "waited": run.waited,
        "reason": run.reason or None,
        "calls": run.calls,
        "retries": run.retries,
        "tokens": usage_to_json(run.usage),
        "cost": run.cost,
        "models": [_model(use) for use in run.models],
    }


def _model(use: ModelUse) -> JsonObject:
    return {
        "model": use.model,
        "requests": use.requests,
        "tokens": usage_to_json(use.usage),
        "cost": use.cost,
        "seconds": use.seconds,
        "timed_requests": use.timed,
    }


def _tool(use: ToolUse) -> JsonObject:
    return {
        "name": use.name,
        "calls": use.calls,
        "failures": use.failures,
        "seconds": use.seconds,
        "mean_seconds": use.mean_seconds,
        "timed_calls": use.timed,
    }


def _approvals(counts: ApprovalCounts) -> JsonObject | None:
    if not counts.is_recorded:
        return None
    return {
        **{decision.value: count for decision, count in counts.by_decision},
        "asked": counts.asked,
        "waited": counts.waited,
        "recorded_calls": counts.recorded,
        "unrecorded_calls": counts.unrecorded,
    }


def _agent(agent: SubagentUse) -> JsonObject:
    return {
        "agent_id": agent.agent_id,
        "name": agent.name,
        "model": agent.model,
        "prompt": agent.prompt,
        "started": agent.started,
        "seconds": agent.seconds,
        "reason": agent.reason or None,
        "turns": agent.turns,
        "calls": agent.calls,
        "tokens": None if agent.usage is None else usage_to_json(agent.usage),
        "cost": agent.cost,
        "files": agent.files,
    }
