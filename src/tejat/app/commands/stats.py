"""`/stats`: session statistics."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Paragraph, Report, ReportBlock, ReportTable, Tone


class StatsCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        match arguments.lower():
            case "" | "session":
                report = self._session()
            case "model":
                report = Report(_("Models"), (self._models(),))
            case "tools":
                report = Report(_("Tools"), (self._tools(),))
            case _:
                raise UsageError(_("Usage: {usage}", usage="/stats [model | tools]"))
        user.show(report)

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, [("model", _("by model")), ("tools", _("by tool"))])

    def _session(self) -> Report:
        session, counted = self.context.session, self.context.statistics
        cost, usage = session.conversation.budget.cost, counted.usage
        rows = [
            (_("Session"), session.session_id),
            (_("Requests"), f"{sum(model.requests for model in counted.models.values()):,}"),
            (_("Tokens sent"), f"{usage.prompt:,}"),
            (_("Of these cached"), f"{usage.cached:,}"),
            (_("Tokens received"), f"{usage.output + usage.thoughts:,}"),
            (_("Cost"), _("unknown: nobody told what this model costs") if cost is None else f"${cost:.4f}"),
            (_("Calls"), f"{counted.calls:,}"),
            (_("Of these failed"), f"{counted.failed - len(counted.denials):,}"),
            (_("Not allowed"), f"{len(counted.denials):,}"),
            (_("Lines changed"), f"+{counted.lines_added:,} -{counted.lines_removed:,}"),
            (_("Time of models"), _seconds(sum(model.seconds for model in counted.models.values()))),
            (_("Time of tools"), _seconds(sum(tool.seconds for tool in counted.tools.values()))),
        ]
        return Report(_("This session"), (ReportTable(tuple(rows)),))

    def _models(self) -> ReportBlock:
        models = self.context.statistics.models
        if not models:
            return Paragraph(_("No model was asked yet."), Tone.QUIET)
        rows = tuple(
            (
                name,
                f"{model.requests:,}",
                f"{model.errors:,}",
                f"{model.usage.prompt:,}",
                f"{model.usage.cached:,}",
                f"{model.usage.output + model.usage.thoughts:,}",
                _seconds(model.seconds),
            )
            for name, model in models.items()
        )
        headings = (_("Model"), _("Requests"), _("Errors"), _("Sent"), _("Cached"), _("Received"), _("Time"))
        return ReportTable(rows, headings)

    def _tools(self) -> ReportBlock:
        tools = self.context.statistics.tools
        if not tools:
            return Paragraph(_("No tool was called yet."), Tone.QUIET)
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
        return ReportTable(rows, (_("Tool"), _("Calls"), _("Failed"), _("Refused"), _("Time")))


def _seconds(seconds: float) -> str:
    if seconds < 60:
        return _("{seconds} s", seconds=f"{seconds:.1f}")
    minutes, rest = divmod(round(seconds), 60)
    return _("{minutes} min {seconds} s", minutes=f"{minutes:,}", seconds=rest)
