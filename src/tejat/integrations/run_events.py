"""The events of a headless run (`--output-format stream-json`), as read from its log."""

from collections.abc import Iterable, Iterator
from typing import cast

from tejat.core.frozen import Frozen, field
from tejat.core.json_text import InvalidJson, load_json
from tejat.core.messages.types import JsonObject

_NOTHING: JsonObject = {}


class RunFigures(Frozen):
    """Tokens and cost of a run. `output_tokens` includes thoughts, `cost` is None if a price is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None


class RunLog(Frozen):
    """A log with one run, or several that continued the same session.

    `figures` are those of all runs, None if none of them reached its end. `error` is the message of the last run, empty
    if it succeeded. `model` is the name that the user gave.
    """

    events: tuple[JsonObject, ...] = ()
    session_id: str = ""
    model: str = ""
    figures: RunFigures | None = None
    error: str = ""
    by_model: dict[str, RunFigures] = field(default_factory=dict[str, RunFigures])


def read_log(lines: Iterable[str]) -> RunLog:
    """Read the events of a log. Lines that are no events, such as a last one that was cut, are left out."""
    events = tuple(_parse_lines(lines))
    first = next((event for event in events if event["type"] == "init"), _NOTHING)
    results = [event for event in events if event["type"] == "result"]
    by_model: dict[str, RunFigures] = {}
    for result in results:
        for name, usage in as_json_object(as_json_object(result.get("stats")).get("models")).items():
            by_model[name] = _add(by_model.get(name), _usage_figures(as_json_object(usage), cost=None))
    figures: RunFigures | None = None
    for result in results:
        figures = _add(figures, _usage_figures(as_json_object(result.get("stats")), cost=result.get("cost_usd")))
    return RunLog(
        events=events,
        session_id=str(first.get("session_id", "")),
        model=str(first.get("model", "")),
        figures=figures,
        error=str(as_json_object(results[-1].get("error")).get("message", "")) if results else "",
        by_model=by_model,
    )


def as_json_object(value: object) -> JsonObject:
    """Return the value if it is an object, else an empty one."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _parse_lines(lines: Iterable[str]) -> Iterator[JsonObject]:
    for line in lines:
        try:
            event = as_json_object(load_json(line))
        except InvalidJson:
            continue
        if isinstance(event.get("type"), str):
            yield event


def _usage_figures(usage: JsonObject, *, cost: object) -> RunFigures:
    total, prompt = _count(usage.get("total_tokens")), _count(usage.get("input_tokens"))
    return RunFigures(
        prompt, max(total - prompt, 0), _count(usage.get("cached")), cost if isinstance(cost, int | float) else None
    )


def _add(one: RunFigures | None, other: RunFigures) -> RunFigures:
    if one is None:
        return other
    return RunFigures(
        one.input_tokens + other.input_tokens,
        one.output_tokens + other.output_tokens,
        one.cached_tokens + other.cached_tokens,
        None if one.cost is None or other.cost is None else one.cost + other.cost,
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
