"""The figures of one session by day, in a form that can be kept in a file."""

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tejat.app.inspection.history.journal_scan import JournalScan
from tejat.app.inspection.history.request_prices import RequestPrices
from tejat.app.inspection.history.session_history import count_approvals, sum_models, sum_tools
from tejat.core.agent.history.figures import ApprovalCounts, ModelUse, ToolUse
from tejat.core.agent.history.totals import PeriodTotals
from tejat.core.frozen import Frozen, fields_of
from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.message_json import usage_from_json, usage_to_json
from tejat.core.messages.types import JsonObject, JsonValue

_Use = TypeVar("_Use", ModelUse, ToolUse)


class SessionTotals(Frozen):
    """The figures of a session for each day on which it did something. It holds no text of the conversation."""

    session_id: str
    root: str
    days: tuple[PeriodTotals, ...] = ()
    damaged: int = 0

    def to_json(self) -> JsonObject:
        days: list[JsonValue] = [_day_to_json(day) for day in self.days]
        return {"session": self.session_id, "root": self.root, "damaged": self.damaged, "days": days}

    @staticmethod
    def from_json(value: JsonValue) -> "SessionTotals":
        """Raises ValueError."""
        fields = JsonFields(value)
        days = tuple(_day_from_json(day) for day in fields.items("days"))
        return SessionTotals(fields.string("session"), fields.string("root"), days, fields.integer("damaged"))


def build_totals(scan: JournalScan, prices: RequestPrices) -> SessionTotals:
    """Sum the facts of a session by local day."""
    days = {local_day(item.at) for item in (*scan.requests, *scan.calls)}
    days |= {local_day(item.started) for item in scan.runs} | {local_day(item.start) for item in scan.waits}
    totals: list[PeriodTotals] = []
    for day in sorted(days):
        calls = [call for call in scan.calls if local_day(call.at) == day]
        waits = [wait for wait in scan.waits if local_day(wait.start) == day]
        requests = (request for request in scan.requests if local_day(request.at) == day)
        totals.append(
            PeriodTotals(
                day,
                1,
                sum(local_day(run.started) == day for run in scan.runs),
                sum_models(requests, prices, scan.model),
                sum_tools(calls),
                count_approvals(calls, waits),
            )
        )
    return SessionTotals(scan.session_id, scan.root, tuple(totals), scan.damaged)


def local_day(seconds: float) -> str:
    """The day of a time in the local time zone, in ISO format."""
    local = time.localtime(seconds)
    return f"{local.tm_year:04}-{local.tm_mon:02}-{local.tm_mday:02}"


def merge_totals(name: str, some: Iterable[PeriodTotals], *, sessions: int) -> PeriodTotals:
    """The sum of totals. `sessions` is not their sum: a session can be in several of them."""
    runs, approvals = 0, ApprovalCounts()
    models: dict[str, ModelUse] = {}
    tools: dict[str, ToolUse] = {}
    for totals in some:
        runs += totals.runs
        approvals += totals.approvals
        _add_uses(models, ((use.model, use) for use in totals.models))
        _add_uses(tools, ((use.name, use) for use in totals.tools))
    by_cost = sorted(models.values(), key=lambda use: (-(use.cost or 0.0), -use.usage.total, use.model))
    by_time = sorted(tools.values(), key=lambda use: (-(use.seconds or 0.0), -use.calls, use.name))
    return PeriodTotals(name, sessions, runs, tuple(by_cost), tuple(by_time), approvals)


def _add_uses(found: dict[str, _Use], uses: Iterator[tuple[str, _Use]]) -> None:
    for name, use in uses:
        before = found.get(name)
        found[name] = use if before is None else before + use


def _day_to_json(day: PeriodTotals) -> JsonObject:
    counts = day.approvals
    return {
        "day": day.name,
        "runs": day.runs,
        "models": [
            [use.model, use.requests, usage_to_json(use.usage), use.cost, use.seconds, use.timed] for use in day.models
        ],
        "tools": [[use.name, use.calls, use.failures, use.seconds, use.timed] for use in day.tools],
        "approvals": {each.name: getattr(counts, each.name) for each in fields_of(ApprovalCounts)},
    }


def _day_from_json(value: JsonValue) -> PeriodTotals:
    """Raises ValueError."""
    fields = JsonFields(value)
    models = tuple(_model_from_json(item) for item in fields.items("models"))
    tools = tuple(_tool_from_json(item) for item in fields.items("tools"))
    counts = fields.nested("approvals")
    approvals = ApprovalCounts(
        asked=counts.integer("asked"),
        once=counts.integer("once"),
        always=counts.integer("always"),
        rule=counts.integer("rule"),
        refused=counts.integer("refused"),
        denied=counts.integer("denied"),
        waited=counts.number("waited"),
        recorded=counts.integer("recorded"),
        unrecorded=counts.integer("unrecorded"),
    )
    return PeriodTotals(fields.string("day"), 1, fields.integer("runs"), models, tools, approvals)


def _model_from_json(item: JsonValue) -> ModelUse:
    match item:
        case [str() as model, int() as requests, dict() as usage, cost, seconds, int() as timed]:
            return ModelUse(model, requests, usage_from_json(usage), _number(cost), _number(seconds), timed)
        case _:
            raise ValueError("The use of a model has another form.")


def _tool_from_json(item: JsonValue) -> ToolUse:
    match item:
        case [str() as name, int() as calls, int() as failures, seconds, int() as timed]:
            return ToolUse(name, calls, failures, _number(seconds), timed)
        case _:
            raise ValueError("The use of a tool has another form.")


def _number(value: JsonValue) -> float | None:
    if value is not None and not isinstance(value, int | float):
        raise ValueError("There is no number where one must be.")
    return value
