"""`/context`: what goes to the model with every request, what it takes, and why it is there."""

from collections import Counter

from tejat.app.commands.command import Command
from tejat.config.context_files import ContextFile, Why
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect
from tejat.core.person import Person
from tejat.core.sheet import Block, Sheet, Table, Tone, Words
from tejat.core.tokens import estimate_declaration, estimate_text
from tejat.core.words import say, say_count
from tejat.engine.tokens import estimate_tokens
from tejat.tools.registry import Entry, Source


class Context(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del arguments, tell
        conversation = self.parts.session.conversation
        window = conversation.model.context_window
        rows = self._rows()
        used = sum(tokens for _, tokens in rows)
        shares = [(name, f"{tokens:,}", _share(tokens, window)) for name, tokens in rows]
        shares.append((say("Free"), f"{max(0, window - used):,}", _share(max(0, window - used), window)))
        blocks: list[Block] = [
            Words(
                say(
                    "About {used} of {window} tokens of {model} are in use.",
                    used=f"{used:,}",
                    window=f"{window:,}",
                    model=conversation.model.name,
                )
            ),
            Table(tuple(shares), (say("Part"), say("Tokens"), say("Share"))),
            *self._files(),
        ]
        person.show(Sheet(say("Context"), tuple(blocks)))
        return Done()

    def _rows(self) -> list[tuple[str, int]]:
        """Each part of a request with about so many tokens. What is empty is left out, but for the conversation."""
        conversation = self.parts.session.conversation
        premises, messages = conversation.premises, conversation.history.messages
        context = estimate_text(premises.context.combined(self.parts.ground.roots[0]))
        said = "" if premises.instructions is None else premises.instructions()
        rows = [
            (say("System prompt"), max(0, estimate_text(premises.system) - context)),
            (say("Context files"), context),
            (say("What servers say of themselves"), estimate_text(said)),
            *self._tools(),
            (say("How the conversation opens"), estimate_tokens(messages[: premises.opening])),
        ]
        rows = [row for row in rows if row[1]]
        return [*rows, (say("Conversation"), estimate_tokens(messages[premises.opening :]))]

    def _tools(self) -> list[tuple[str, int]]:
        """Those that the model is told of now, by where they come from."""
        registry = self.parts.workshop.session.registry
        tokens, tools = Counter[str](), Counter[str]()
        for declaration in self.parts.session.conversation.premises.declarations():
            name = _source(registry.entry(declaration.name))
            tokens[name] += estimate_declaration(declaration)
            tools[name] += 1
        return [
            (say_count("{count} tool: {source}", "{count} tools: {source}", tools[name], source=name), tokens[name])
            for name in tokens
        ]

    def _files(self) -> list[Block]:
        context = self.parts.session.conversation.premises.context
        warnings = [Words(warning, Tone.WARNING) for warning in context.warnings]
        if not context.files:
            return [Words(say("No context files are read."), Tone.QUIET), *warnings]
        rows = tuple(
            (file.path, say_count("{count} byte", "{count} bytes", file.size), _tokens_of(file), _why(file.why))
            for file in context.files
        )
        headings = (say("File"), say("Size"), say("Tokens"), say("Why"))
        return [Words(say("Context files"), Tone.STRONG), Table(rows, headings), *warnings]


def _tokens_of(file: ContextFile) -> str:
    return f"{estimate_text(file.text):,}"


def _source(entry: Entry | None) -> str:
    match None if entry is None else entry.source:
        case None | Source.BUILT_IN:
            return say("built in")
        case Source.PYTHON:
            return say("plug-ins")
        case Source.DISCOVERED:
            return say("discovery command")
        case Source.MCP:
            alias = None if entry is None else entry.server
            return say("MCP servers") if alias is None else say("MCP server {name}", name=alias)


def _why(why: Why) -> str:
    match why:
        case Why.YOURS:
            return say("yours, read in every session")
        case Why.ABOVE:
            return say("in a directory above the project")
        case Why.PROJECT:
            return say("in the directory of the project")
        case Why.BELOW:
            return say("in a directory below")


def _share(tokens: int, window: int) -> str:
    return f"{tokens / window:.1%}" if window > 0 else ""
