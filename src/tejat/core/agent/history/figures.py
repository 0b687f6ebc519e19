"""Figures of one past session. None always means that something was not recorded or is unknown, never zero."""

from collections.abc import Iterable

from tejat.core.agent.history.decisions import CallDecision
from tejat.core.agent.history.timeline import RunTimeline
from tejat.core.frozen import Frozen
from tejat.core.model import NO_USAGE, Usage


def add_known(numbers: Iterable[float | None]) -> float | None:
    """The sum, None if any of the numbers is."""
    total = 0.0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total


class ModelUse(Frozen):
    """The requests to one model. `seconds` counts `timed` requests, and is None if there are none of them."""

    model: str
    requests: int = 0
    usage: Usage = NO_USAGE
    cost: float | None = 0.0
    seconds: float | None = None
    timed: int = 0

    def __add__(self, other: "ModelUse") -> "ModelUse":
        return ModelUse(
            self.model,
            self.requests + other.requests,
            self.usage + other.usage,
            add_known((self.cost, other.cost)),
            add_times(self.seconds, other.seconds),
            self.timed + other.timed,
        )


class ToolUse(Frozen):
    """The calls of one tool. `seconds` counts `timed` calls, and is None if there are none of them."""

    name: str
    calls: int = 0
    failures: int = 0
    seconds: float | None = None
    timed: int = 0

    @property
    def mean_seconds(self) -> float | None:
        return None if self.seconds is None or not self.timed else self.seconds / self.timed

    def __add__(self, other: "ToolUse") -> "ToolUse":
        return ToolUse(
            self.name,
            self.calls + other.calls,
            self.failures + other.failures,
            add_times(self.seconds, other.seconds),
            self.timed + other.timed,
        )


def add_times(some: float | None, more: float | None) -> float | None:
    """The sum of the times that are known, None if neither is."""
    return some if more is None else more if some is None else some + more


class ApprovalCounts(Frozen):
    """Decisions about `recorded` calls. `asked` counts questions, `waited` the seconds until they were answered.

    `unrecorded` calls ran before decisions were recorded.
    """

    asked: int = 0
    once: int = 0
    always: int = 0
    rule: int = 0
    refused: int = 0
    denied: int = 0
    waited: float = 0.0
    recorded: int = 0
    unrecorded: int = 0

    def __add__(self, other: "ApprovalCounts") -> "ApprovalCounts":
        return ApprovalCounts(
            self.asked + other.asked,
            self.once + other.once,
            self.always + other.always,
            self.rule + other.rule,
            self.refused + other.refused,
            self.denied + other.denied,
            self.waited + other.waited,
            self.recorded + other.recorded,
            self.unrecorded + other.unrecorded,
        )

    @property
    def is_recorded(self) -> bool:
        """Whether anything is known about decisions, or there was nothing to decide."""
        return bool(self.recorded) or not self.unrecorded

    @property
    def by_decision(self) -> tuple[tuple[CallDecision, int], ...]:
        return (
            (CallDecision.RULE, self.rule),
            (CallDecision.ONCE, self.once),
            (CallDecision.ALWAYS, self.always),
            (CallDecision.REFUSED, self.refused),
            (CallDecision.DENIED, self.denied),
        )


class ChangedFile(Frozen):
    """A file that calls changed. The lines are None if they were not counted, as for changes by commands."""

    path: str
    calls: int = 1
    added: int | None = None
    removed: int | None = None


class SubagentUse(Frozen):
    """A run of a sub-agent. Figures are None, and `reason` is empty, if its end was not recorded."""

    agent_id: str
    name: str
    model: str
    prompt: str
    started: float
    reason: str = ""
    seconds: float | None = None
    turns: int | None = None
    calls: int | None = None
    usage: Usage | None = None
    cost: float | None = None
    files: int | None = None


class RunHistory(Frozen):
    """The answer to one prompt. `ended` is None and `reason` is empty if its end was not recorded.

    `models` has the requests by model, with those of sub-agents and tools. `waited` are the seconds of questions to the
    user; None if the run had calls and their times were not recorded. `number` counts from 1.
    """

    number: int
    prompt: str
    started: float
    ended: float | None = None
    seconds: float | None = None
    reason: str = ""
    models: tuple[ModelUse, ...] = ()
    calls: int = 0
    waited: float | None = None
    retries: int = 0

    @property
    def usage(self) -> Usage:
        return sum_usage(self.models)

    @property
    def cost(self) -> float | None:
        return add_known(model.cost for model in self.models)


def sum_usage(models: Iterable[ModelUse]) -> Usage:
    """The tokens of all these models."""
    total = NO_USAGE
    for model in models:
        total += model.usage
    return total


class SessionHistory(Frozen):
    """What a session did. `notes` say what could not be read or was not recorded, for the user.

    `ended` is the time of its last record. Tools, approvals and models include those of sub-agents.
    """

    session_id: str
    title: str
    root: str
    started: float
    ended: float
    runs: tuple[RunHistory, ...] = ()
    models: tuple[ModelUse, ...] = ()
    tools: tuple[ToolUse, ...] = ()
    approvals: ApprovalCounts = ApprovalCounts()
    files: tuple[ChangedFile, ...] = ()
    agents: tuple[SubagentUse, ...] = ()
    timelines: tuple[RunTimeline, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def usage(self) -> Usage:
        return sum_usage(self.models)

    @property
    def cost(self) -> float | None:
        return add_known(model.cost for model in self.models)
