"""`/tools`: the tools that are built in, come from plug-ins or were told of by a command."""

from collections.abc import Iterator, Sequence

from tejat.app.commands.command import Command, fitting
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Suggestion
from tejat.core.errors import UsageError
from tejat.core.person import Person
from tejat.core.sheet import Sheet, Words
from tejat.core.words import say
from tejat.tools.registry import Entry, Source


class Tools(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        match arguments.lower():
            case "" | "nodesc":
                lines = [f"  - {entry.display_name}" for entry in self._entries()]
            case "desc" | "descriptions":
                lines = [line for entry in self._entries() for line in _described(entry)]
            case _:
                raise UsageError(say("Usage: {usage}", usage="/tools [desc | nodesc]"))
        text = "\n".join(lines) if lines else say("  No tools available")
        person.show(Sheet(say("Available Gemini CLI tools:"), (Words(text),)))
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        return fitting(typed, [("desc", say("with descriptions")), ("nodesc", say("names only"))])

    def _entries(self) -> list[Entry]:
        """Those of MCP servers are for `/mcp` to show."""
        tools = self.parts.workshop.session
        return [
            entry
            for entry in tools.registry.entries()
            if entry.source is not Source.MCP and not tools.is_forbidden(entry.own_name, entry.server)
        ]


def _described(entry: Entry) -> Iterator[str]:
    yield f"  - {entry.display_name} ({entry.name})"
    for line in entry.declaration.description.strip().splitlines():
        yield f"      {line}".rstrip()
