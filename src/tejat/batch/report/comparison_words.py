"""A comparison of two batches in words, as JSON and as facts that every form of it shows."""

from tejat.batch.report.comparison import BatchComparison, PairedTotals, PairOutcome, TaskPair
from tejat.batch.report.figures import figures_to_json
from tejat.batch.report.terminal import rate_label
from tejat.batch.result import TaskResult, TaskStatus
from tejat.batch.text.labels import cost_label, status_label, time_label
from tejat.core.i18n import _, ngettext
from tejat.core.messages.types import JsonObject
from tejat.ui.shared.labels.run_summary import format_count

LIKELY_CHANCE = 0.05
"""p-values from here on are no evidence for a difference."""
OUTCOME_ORDER = tuple(PairOutcome)


def verdict(compared: BatchComparison) -> str:
    """Whether one batch is better, and how sure that is."""
    first, second = compared.count(PairOutcome.ONLY_FIRST), compared.count(PairOutcome.ONLY_SECOND)
    if not (first or second):
        if not (compared.count(PairOutcome.BOTH_PASSED) or compared.count(PairOutcome.NEITHER)):
            return _("No task was tried in both batches, so there is nothing to compare.")
        return _("Both passed exactly the same tasks.")
    counts = _(
        "{first_count} passed only in {first_name}, {second_count} only in {second_name}.",
        first_count=ngettext("{count} task", "{count} tasks", first),
        first_name=compared.first_name,
        second_count=ngettext("{count} task", "{count} tasks", second),
        second_name=compared.second_name,
    )
    return f"{counts} {_evidence(compared, first, second)}"


def _evidence(compared: BatchComparison, first: int, second: int) -> str:
    chance = chance_label(compared.p_value)
    better = compared.first_name if first > second else compared.second_name
    if compared.p_value >= LIKELY_CHANCE:
        return _(
            "This may be chance: two equally good batches differ at least this much in {chance} of all comparisons "
            "(p = {p}). More tasks, or several runs of each, would show more.",
            chance=chance,
            p=f"{compared.p_value:.2g}",
        )
    return _(
        "{better} is probably better: two equally good batches differ this much in only {chance} of all comparisons "
        "(p = {p}).",
        better=better,
        chance=chance,
        p=f"{compared.p_value:.2g}",
    )


def chance_label(probability: float) -> str:
    """A probability as `3.5 %`, with few digits."""
    percent = 100 * probability
    if percent < 0.1:
        return _("less than {percent} %", percent=0.1)
    return _("{percent} %", percent=f"{percent:.1f}" if percent < 10 else f"{percent:.0f}")


def outcome_label(outcome: PairOutcome, compared: BatchComparison) -> str:
    match outcome:
        case PairOutcome.BOTH_PASSED:
            return _("passed in both")
        case PairOutcome.ONLY_FIRST:
            return _("passed only in {name}", name=compared.first_name)
        case PairOutcome.ONLY_SECOND:
            return _("passed only in {name}", name=compared.second_name)
        case PairOutcome.NEITHER:
            return _("failed in both")
        case PairOutcome.UNTRIED:
            return _("error or skipped in one, not compared")
        case PairOutcome.MISSING:
            return _("in one batch only")


def total_rows(compared: BatchComparison) -> list[tuple[str, str, str]]:
    """The totals of both batches: a name and two values."""
    first, second = compared.first, compared.second
    counts = [
        (status_label(status), f"{first.counts.get(status, 0):,}", f"{second.counts.get(status, 0):,}")
        for status in TaskStatus
        if first.counts.get(status) or second.counts.get(status)
    ]
    return [
        (_("tasks"), f"{first.total:,}", f"{second.total:,}"),
        *counts,
        (_("pass rate"), rate_label(first.pass_rate), rate_label(second.pass_rate)),
        (_("cost"), cost_label(first.cost.total), cost_label(second.cost.total)),
        (_("tokens"), format_count(first.tokens), format_count(second.tokens)),
        (_("time of all tasks"), time_label(first.seconds.total), time_label(second.seconds.total)),
    ]


def paired_lines(compared: BatchComparison) -> list[str]:
    """Cost and time on the tasks that both passed."""
    lines: list[str] = []
    cost, seconds = compared.cost, compared.seconds
    if cost.tasks and (cost.first or cost.second):
        lines.append(_paired_line(_("Cost"), cost, cost_label(cost.first), cost_label(cost.second), compared))
    if seconds.tasks:
        lines.append(_paired_line(_("Time"), seconds, time_label(seconds.first), time_label(seconds.second), compared))
    return lines


def _paired_line(name: str, totals: PairedTotals, first: str, second: str, compared: BatchComparison) -> str:
    change = "" if totals.change is None else f" ({100 * totals.change:+.0f} %)"
    return _(
        "{name} on {tasks} passed in both: {first} to {second}{change}; less in {first_name} on {first_lower}, "
        "in {second_name} on {second_lower}.",
        name=name,
        tasks=ngettext("{count} task", "{count} tasks", totals.tasks),
        first=first,
        second=second,
        change=change,
        first_name=compared.first_name,
        second_name=compared.second_name,
        first_lower=f"{totals.first_lower:,}",
        second_lower=f"{totals.second_lower:,}",
    )


def comparison_to_json(compared: BatchComparison) -> JsonObject:
    """The comparison as a JSON object."""
    return {
        "first": {"name": compared.first_name, **figures_to_json(compared.first)},
        "second": {"name": compared.second_name, **figures_to_json(compared.second)},
        "outcomes": {outcome.value: compared.count(outcome) for outcome in OUTCOME_ORDER},
        "p_value": compared.p_value,
        "verdict": verdict(compared),
        "cost": _totals_to_json(compared.cost),
        "seconds": _totals_to_json(compared.seconds),
        "tasks": [_pair_to_json(pair) for pair in compared.pairs],
    }


def _totals_to_json(totals: PairedTotals) -> JsonObject:
    return {
        "tasks": totals.tasks,
        "first": totals.first,
        "second": totals.second,
        "change": totals.change,
        "first_lower": totals.first_lower,
        "second_lower": totals.second_lower,
    }


def _pair_to_json(pair: TaskPair) -> JsonObject:
    sides = {"first": _side_to_json(pair.first), "second": _side_to_json(pair.second)}
    return {"id": pair.id, "outcome": pair.outcome.value, **sides}


def _side_to_json(result: TaskResult | None) -> JsonObject | None:
    if result is None:
        return None
    values = {"cost": result.cost, "seconds": result.seconds, "tokens": result.tokens}
    return {"status": result.status.value, "failure": result.failure.value, **values}
