"""`/rewind`: go back to before an earlier prompt of this session, with its files if that is wanted."""

import time
from collections.abc import Sequence

from tejat.app.commands.command import Command, fitting
from tejat.app.putting_back import PuttingBack, plan_of
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Refill, Suggestion
from tejat.core.errors import UsageError
from tejat.core.person import Choice, Option, Person
from tejat.core.sheet import Block, Sheet, Words, told
from tejat.core.undo import Entry
from tejat.core.words import say
from tejat.engine.marks import Mark

_LONGEST_LABEL = 100


class Rewind(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        conversation = self.parts.session.conversation
        if self.parts.session.is_busy:
            raise UsageError(say("The model is still at work. Stop it first, or wait until it is done."))
        marks = list(conversation.marks)
        if not marks:
            person.show(told(say("There is no prompt in this conversation that you could go back to.")))
            return Done()
        number = _number(arguments, len(marks)) if arguments else await _chosen(marks, person)
        if number is None:
            return Done()
        mark = marks[number]
        putting_back = PuttingBack(self.parts.succession)
        entries = await putting_back.of_calls_in(conversation.history.messages[mark.length :])
        taken = await person.choose(_way(entries)) if entries else 0
        if taken not in (0, 1):
            person.show(told(say("Nothing was touched.")))
            return Done()
        blocks: tuple[Block, ...] = (await putting_back.put_back(entries)).blocks if taken == 1 else ()
        conversation.go_back(mark.length, number)
        back = Words(say("The conversation is where it was before this prompt."))
        person.show(Sheet(blocks=(*blocks, back)))
        return Refill(mark.shown)

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        marks = enumerate(self.parts.session.conversation.marks, 1)
        return fitting(typed, [(str(number), _label(mark)) for number, mark in marks])


async def _chosen(marks: Sequence[Mark], person: Person) -> int | None:
    """The newest stands first."""
    options = tuple(Option(_label(mark), _when(mark)) for mark in reversed(marks))
    taken = await person.choose(Choice(say("Go back to before which prompt?"), options))
    return None if taken is None else len(marks) - 1 - taken


def _number(word: str, count: int) -> int:
    """Raises UsageError."""
    if not word.isdecimal() or len(word) > len(str(count)) or not 1 <= int(word) <= count:
        raise UsageError(say("There are prompts from 1 to {count}, the first one is 1.", count=count))
    return int(word) - 1


def _way(entries: Sequence[Entry]) -> Choice:
    return Choice(
        say("Since then calls have changed files. What about these?"),
        (
            Option(say("Go back, and leave the files as they are")),
            Option(say("Go back, and put the files back too")),
            Option(say("Stay here")),
        ),
        sheet=plan_of(entries),
        is_grave=True,
    )


def _label(mark: Mark) -> str:
    text = " ".join(mark.shown.split())
    return text if len(text) <= _LONGEST_LABEL else f"{text[:_LONGEST_LABEL]}…"


def _when(mark: Mark) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(mark.at))
