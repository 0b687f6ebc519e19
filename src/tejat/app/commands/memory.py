"""`/memory`: what the model is told from context files, adding to it and reading it again."""

from collections.abc import Sequence

from tejat.app.agent import context_of
from tejat.app.commands.command import Command, fitting
from tejat.config.context_files import ContextFiles
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Suggestion
from tejat.core.errors import UsageError
from tejat.core.person import Person
from tejat.core.sheet import Block, Sheet, Source, Tone, Words, told
from tejat.core.types import FunctionCall
from tejat.core.words import say

_USAGE = "/memory show | add TEXT | refresh | list"


class Memory(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        word, _, rest = arguments.partition(" ")
        match word.lower():
            case "show":
                person.show(self._shown())
            case "list":
                person.show(_listed(self._context))
            case "refresh" | "reload":
                person.show(self._refreshed())
            case "add":
                await self._add(rest.strip(), person, tell)
            case "":
                raise UsageError(say("Missing command\nUsage: {usage}", usage=_USAGE))
            case _:
                raise UsageError(say("Unknown /memory command: {word}. Available: show, refresh, add", word=word))
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        return fitting(
            typed,
            [
                ("show", say("what the model is told")),
                ("add", say("remember a fact in every session to come")),
                ("refresh", say("read the files again")),
                ("list", say("the files")),
            ],
        )

    @property
    def _context(self) -> ContextFiles:
        return self.parts.session.conversation.premises.context

    def _combined(self) -> str:
        return self._context.combined(self.parts.ground.roots[0])

    def _shown(self) -> Sheet:
        text, count = self._combined(), len(self._context.files)
        if not text:
            return told(say("Memory is currently empty."))
        heading = Words(say("Current memory content from {count} file(s):", count=count))
        return Sheet(blocks=(heading, Source(f"---\n{text}\n---", "markdown")))

    def _refreshed(self) -> Sheet:
        context = context_of(self.parts.ground)
        self.parts.session.conversation.take_context(context)
        text, count = self._combined(), len(context.files)
        done = (
            say(
                "Memory refreshed successfully. Loaded {characters} characters from {count} file(s).",
                characters=len(text),
                count=count,
            )
            if text
            else say("Memory refreshed successfully. No memory content found.")
        )
        blocks: list[Block] = [Words(done, Tone.GOOD)]
        return Sheet(blocks=(*blocks, *(Words(warning, Tone.WARNING) for warning in context.warnings)))

    async def _add(self, fact: str, person: Person, tell: Tell) -> None:
        if not fact:
            raise UsageError(say("Usage: /memory add <text to remember>"))
        person.show(told(say('Attempting to save to memory: "{fact}"', fact=fact)))
        call = FunctionCall("save_memory", {"fact": fact}, "memory-add")
        result = await self.parts.workshop.session.scheduler.run(call, tell)
        if result.error is None:
            self.parts.session.conversation.take_context(context_of(self.parts.ground))


def _listed(context: ContextFiles) -> Sheet:
    if not context.files:
        return told(say("No context files are in use."))
    paths = "\n".join(f"- {file.path}" for file in context.files)
    heading = say("There are {count} context file(s) in use:", count=len(context.files))
    return Sheet(blocks=(Words(heading), Words(paths)))
