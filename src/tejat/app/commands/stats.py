"""`/stats`: session statistics."""

from collections.abc import Sequence
from functools import partial

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.model_source import own_prices
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.text.model_figures import format_price
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone
from tejat.models.catalogue.catalogue_file import load_catalogue
from tejat.models.catalogue.price_list import PriceList


class StatsCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        match arguments.lower():
            case "" | "session":
                report = self._session()
            case "model":
                report = Report(_("Models"), (self._models(),))
            case "tools":
                report = Report(_("Tools"), (self._tools(),))
            case "agents":
                report = Report(_("Sub-agents"), (self._agents(),))
            case _:
                raise UsageError(_("Usage: {usage}", usage="/stats [session | model | tools | agents]"))
        user.show(report)

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        options = [("session", _("totals")), ("model", _("by model")), ("tools", _("by tool"))]
        return complete_from(typed, [*options, ("agents", _("by sub-agent"))])

    def _session(self) -> Report:
        session, counted = self.context.session, self.context.statistics
        usage, model = counted.usage, session.conversation.model.name
        rows = [
            (_("Session"), session.session_id),
            (_("Requests"), f"{sum(model.requests for model in counted.models.values()):,}"),
            (_("Tokens sent"), f"{usage.prompt:,}"),
            (_("Cached"), f"{usage.cached:,}"),
            (_("Tokens received"), f"{usage.output + usage.thoughts:,}"),
            (_("Cost"), self._cost()),
            (_("Price"), self._price(model)),
            (_("Tool calls"), f"{counted.calls:,}"),
            (_("Failed"), f"{counted.failed - len(counted.denials):,}"),
            (_("Denied"), f"{len(counted.denials):,}"),
            (_("Lines changed"), f"+{counted.lines_added:,} -{counted.lines_removed:,}"),
            (_("Model time"), _seconds(sum(model.seconds for model in counted.models.values()))),
            (_("Tool time"), _seconds(sum(tool.seconds for tool in counted.tools.values()))),
        ]
        return Report(_("This session"), (ReportTable(tuple(rows)),))

    def _cost(self) -> str:
        budget = self.context.conversation.budget
        if budget.cost is not None:
            return f"${budget.cost:.4f}"
        if budget.highest_cost is None:
            return _("unknown (a price is unknown)")
        return _("at most {cost}; a price is unknown", cost=f"${budget.highest_cost:.4f}")

    def _price(self, model: str) -> str:
        """The price of a model today, and how old that information is."""
        price = self.context.conversation.budget.price_of(model)
        if price is None:
            return _("unknown")
        figures = format_price(price)
        if not figures.startswith("$"):
            return figures
        return _(
            "{price} per million tokens sent / received, {source}", price=figures, source=self._price_source(model)
        )

    def _price_source(self, model: str) -> str:
        run_config = self.context.run_config
        if PriceList(partial(load_catalogue, ""), own_prices(run_config)).own_price_of(model) is not None:
            return _("from model.prices")
        return _("as of {date}", date=load_catalogue(run_config.paths.catalogue).current.date)

    def _models(self) -> ReportBlock:
        models = self.context.statistics.models
        if not models:
            return Paragraph(_("No requests yet."), Tone.QUIET)
        budget = self.context.conversation.budget
        rows = tuple(
            (
                name,
                f"{model.requests:,}",
                f"{model.errors:,}",
                f"{model.usage.prompt:,}",
                f"{model.usage.cached:,}",
                f"{model.usage.output + model.usage.thoughts:,}",
                _seconds(model.seconds),
                format_price(budget.price_of(name)),
            )
            for name, model in models.items()
        )
        headings = (
            *(_("Model"), _("Requests"), _("Errors"), _("Sent"), _("Cached"), _("Received"), _("Time"), _("Price")),
        )
        return ReportTable(rows, headings)

    def _tools(self) -> ReportBlock:
        tools = self.context.statistics.tools
        if not tools:
            return Paragraph(_("No tool calls yet."), Tone.QUIET)
        rows = tuple(
            (
                name,
                f"{tool.count:,}",
                f"{tool.count - tool.success:,}",
                f"{tool.decisions['reject']:,}",
                _seconds(tool.seconds),
            )
            for name, tool in tools.items()
        )
        return ReportTable(rows, (_("Tool"), _("Calls"), _("Failed"), _("Rejected"), _("Time")))

    def _agents(self) -> ReportBlock:
        agents = self.context.statistics.agents
        if not agents:
            return Paragraph(_("No sub-agents were started yet."), Tone.QUIET)
        rows = tuple(
            (
                name,
                f"{agent.runs:,}",
                f"{agent.turns:,}",
                f"{agent.calls:,}",
                f"{agent.usage.total:,}",
                _("unknown") if agent.cost is None else f"${agent.cost:.4f}",
                _seconds(agent.seconds),
                ", ".join(f"{reason} {count:,}" for reason, count in agent.outcomes.items()),
            )
            for name, agent in agents.items()
        )
        headings = (_("Agent"), _("Runs"), _("Turns"), _("Calls"), _("Tokens"), _("Cost"), _("Time"), _("Ends"))
        return ReportTable(rows, headings)


def _seconds(seconds: float) -> str:
    if seconds < 60:
        return _("{seconds} s", seconds=f"{seconds:.1f}")
    minutes, rest = divmod(round(seconds), 60)
    return _("{minutes} min {seconds} s", minutes=f"{minutes:,}", seconds=rest)
