"""Figures of many sessions: by day, model and project."""

from tejat.core.agent.history.figures import ApprovalCounts, ModelUse, ToolUse, add_known, sum_usage
from tejat.core.frozen import Frozen
from tejat.core.model import Usage


class PeriodTotals(Frozen):
    """The figures of a day or a project. `name` is the day in the local time zone (ISO format), or the directory.

    A session counts on every day that it did something.
    """

    name: str
    sessions: int = 0
    runs: int = 0
    models: tuple[ModelUse, ...] = ()
    tools: tuple[ToolUse, ...] = ()
    approvals: ApprovalCounts = ApprovalCounts()

    @property
    def usage(self) -> Usage:
        return sum_usage(self.models)

    @property
    def cost(self) -> float | None:
        return add_known(model.cost for model in self.models)


class HistoryOverview(Frozen):
    """The figures of all sessions in a period. `days` has every day from the first to the last, also empty ones.

    `projects` begins with the most expensive one. `notes` say what could not be read.
    """

    total: PeriodTotals
    days: tuple[PeriodTotals, ...] = ()
    projects: tuple[PeriodTotals, ...] = ()
    notes: tuple[str, ...] = ()
