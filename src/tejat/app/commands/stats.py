"""`/stats`: what the session came to in numbers."""

from collections.abc import Sequence

from tejat.app.commands.command import Command, fitting
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Suggestion
from tejat.core.errors import UsageError
from tejat.core.person import Person
from tejat.core.sheet import Block, Sheet, Table, Tone, Words
from tejat.core.words import say


class Stats(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        match arguments.lower():
            case "" | "session":
                sheet = self._session()
            case "model":
                sheet = Sheet(say("Models"), (self._models(),))
            case "tools":
                sheet = Sheet(say("Tools"), (self._tools(),))
            case _:
                raise UsageError(say("Usage: {usage}", usage="/stats [model | tools]"))
        person.show(sheet)
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        return fitting(typed, [("model", say("by model")), ("tools", say("by tool"))])

    def _session(self) -> Sheet:
        session, counted = self.parts.session, self.parts.statistics
        budget = session.conversation.budget
        usage = counted.usage
        rows = [
            (say("Session"), session.session_id),
            (say("Requests"), f"{sum(model.requests for model in counted.models.values()):,}"),
            (say("Tokens sent"), f"{usage.prompt:,}"),
            (say("Of these cached"), f"{usage.cached:,}"),
            (say("Tokens received"), f"{usage.output + usage.thoughts:,}"),
            (say("Cost"), _cost(budget.cost)),
            (say("Calls"), f"{counted.calls:,}"),
            (say("Of these failed"), f"{counted.failed - len(counted.denials):,}"),
            (say("Not allowed"), f"{len(counted.denials):,}"),
            (say("Lines changed"), f"+{counted.lines_added:,} -{counted.lines_removed:,}"),
            (say("Time of models"), _seconds(sum(model.seconds for model in counted.models.values()))),
            (say("Time of tools"), _seconds(sum(tool.seconds for tool in counted.tools.values()))),
        ]
        return Sheet(say("This session"), (Table(tuple(rows)),))

    def _models(self) -> Block:
        models = self.parts.statistics.models
        if not models:
            return Words(say("No model was asked yet."), Tone.QUIET)
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
        return Table(
            rows,
            (say("Model"), say("Requests"), say("Errors"), say("Sent"), say("Cached"), say("Received"), say("Time")),
        )

    def _tools(self) -> Block:
        tools = self.parts.statistics.tools
        if not tools:
            return Words(say("No tool was called yet."), Tone.QUIET)
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
        return Table(rows, (say("Tool"), say("Calls"), say("Failed"), say("Refused"), say("Time")))


def _cost(cost: float | None) -> str:
    return say("unknown: nobody told what this model costs") if cost is None else f"${cost:.4f}"


def _seconds(seconds: float) -> str:
    if seconds < 60:
        return say("{seconds} s", seconds=f"{seconds:.1f}")
    minutes, rest = divmod(round(seconds), 60)
    return say("{minutes} min {seconds} s", minutes=f"{minutes:,}", seconds=rest)
