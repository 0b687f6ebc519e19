"""`/undo` and `/restore`: put back what calls changed in files, and go back to before a call."""

from collections.abc import Sequence

from tejat.app.commands.command import Command, fitting
from tejat.app.putting_back import PuttingBack, list_of, plan_of, title
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Submit, Suggestion
from tejat.core.errors import UsageError
from tejat.core.person import Choice, Option, Person
from tejat.core.sheet import Block, Sheet, Source, Tone, Words, told
from tejat.core.undo import Entry
from tejat.core.words import say
from tejat.engine.transcript import shortened, transcript

_MOST_LISTED = 50
_LONGEST_CALL = 2_000


class Undo(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        putting_back = PuttingBack(self.parts.succession)
        standing = await putting_back.standing()
        if arguments.lower() == "list":
            person.show(_listed(standing, say("What can be undone")))
            return Done()
        entries = _meant(arguments, standing)
        if not entries:
            person.show(told(say("Nothing to undo.")))
            return Done()
        options = (Option(say("No")), Option(say("Yes")))
        question = Choice(say("Put this back?"), options, sheet=plan_of(entries), is_grave=True)
        if await person.choose(question) != 1:
            person.show(told(say("Nothing was touched.")))
            return Done()
        done = await putting_back.put_back(entries)
        putting_back.tell_model(done.paths)
        person.show(Sheet(blocks=done.blocks))
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        standing = await PuttingBack(self.parts.succession).standing()
        options = [
            ("list", say("what can be undone")),
            *((entry.id, title(entry)) for entry in standing[:_MOST_LISTED]),
        ]
        return fitting(typed, options)


class Restore(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        if self.parts.session.is_busy:
            raise UsageError(say("The model is still at work. Stop it first, or wait until it is done."))
        putting_back = PuttingBack(self.parts.succession)
        history = self.parts.session.conversation.history
        restorable = await putting_back.of_calls_in(history.messages)
        if not arguments:
            person.show(_listed(restorable, say("Calls that can be gone back to")))
            return Done()
        entry = next((entry for entry in restorable if entry.id == arguments), None)
        if entry is None:
            raise UsageError(say("File not found: {name}.json", name=arguments))
        place = next(
            index
            for index, message in enumerate(history.messages)
            if any(call.id == entry.call for call in message.calls)
        )
        call = Source(shortened(transcript([history.messages[place]]), _LONGEST_CALL))
        entries = await putting_back.of_calls_in(history.messages[place:])
        taken = await person.choose(_way(entries, call))
        if taken not in (0, 1):
            person.show(told(say("Nothing was touched.")))
            return Done()
        done = await putting_back.put_back(entries)
        if not done.is_complete:
            putting_back.tell_model(done.paths)
            stays = Words(say("The conversation stays as it is."), Tone.WARNING)
            person.show(Sheet(blocks=(*done.blocks, stays)))
            return Done()
        self.parts.session.conversation.go_back(place)
        person.show(Sheet(blocks=(*done.blocks, Words(say("The conversation is where it was before this call.")))))
        if taken == 1:
            return Done()
        return Submit(
            "The files are as they were before your last calls, and these calls are forgotten. Go on from here.",
            f"/restore {arguments}",
        )

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        messages = self.parts.session.conversation.history.messages
        restorable = await PuttingBack(self.parts.succession).of_calls_in(messages)
        return fitting(typed, [(entry.id, title(entry)) for entry in restorable])


def _way(entries: Sequence[Entry], call: Source) -> Choice:
    plan = plan_of(entries)
    blocks: tuple[Block, ...] = (*plan.blocks, Words(say("The model had asked for:")), call)
    return Choice(
        say("Put these files back, and go back in the conversation?"),
        (
            Option(say("Yes, and let the model go on from there")),
            Option(say("Yes, and wait for me")),
            Option(say("No")),
        ),
        initial=2,
        sheet=Sheet(plan.title, blocks),
        is_grave=True,
    )


def _meant(word: str, standing: Sequence[Entry]) -> Sequence[Entry]:
    """The last call, the last so many, or the one of this id. Raises UsageError."""
    if not word:
        return standing[:1]
    by_id = [entry for entry in standing if entry.id == word]
    if by_id:
        return by_id
    if word.isdecimal() and len(word) < len("123456"):
        if int(word) < 1:
            raise UsageError(say("Usage: {usage}", usage="/undo [N | list | ID]"))
        return standing[: int(word)]
    raise UsageError(say("There is no call {id} that could be undone. /undo list shows them.", id=word))


def _listed(entries: Sequence[Entry], heading: str) -> Sheet:
    if not entries:
        return told(say("No restorable tool calls found."))
    return list_of(entries[:_MOST_LISTED], heading)
