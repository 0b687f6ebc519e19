"""`/clear` and `/compress`: a new conversation, or a shorter one."""

from typing import assert_never

from tejat.app.commands.command import Command
from tejat.app.exchanging import begin_anew
from tejat.core.agent_events import AgentEvent, Compressed, CompressionStatus, Tell
from tejat.core.commands import ClearScreen, Done, Effect
from tejat.core.errors import UsageError
from tejat.core.person import Person
from tejat.core.sheet import Sheet, Tone, told
from tejat.core.words import say


class Clear(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del arguments, person, tell
        await begin_anew(self.parts.succession)
        return ClearScreen()


class Compress(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del arguments

        def heard(event: AgentEvent) -> None:
            self.parts.statistics.count(event)
            tell(event)

        session = self.parts.session
        if session.is_busy:
            raise UsageError(say("The model is still at work. Stop it first, or wait until it is done."))
        person.show(_in_words(await session.compress(heard)))
        return Done()


def _in_words(outcome: Compressed) -> Sheet:
    match outcome.status:
        case CompressionStatus.COMPRESSED:
            message = say(
                "Chat history compressed from {before} to {after} tokens.", before=outcome.before, after=outcome.after
            )
            return told(message, Tone.GOOD)
        case CompressionStatus.NOT_NEEDED:
            return told(say("Nothing to compress."))
        case CompressionStatus.INFLATED:
            return told(say("Compression was not beneficial for this history size."))
        case CompressionStatus.FAILED:
            return told(say("Could not compress chat history: {why}", why=outcome.detail), Tone.BAD)
        case _:
            assert_never(outcome.status)
