"""`/permissions`: what the person allowed with "always", taking it back, and trust of the folder."""

from collections.abc import Sequence

from tejat.app.commands.command import Command, fitting
from tejat.config.trust import Trust, TrustLevel, trust_folder
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Suggestion
from tejat.core.errors import UsageError
from tejat.core.person import Choice, Option, Person
from tejat.core.sheet import Block, Sheet, Table, Tone, Words, told
from tejat.core.words import say
from tejat.engine.given_answers import GivenAnswer, given_answers, take_back

USAGE = "/permissions [list | revoke N | trust]"


class Permissions(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        match arguments.split():
            case [] | ["list"]:
                person.show(self._listed())
            case ["revoke"]:
                await self._choose_and_revoke(person)
            case ["revoke", number]:
                self._revoke(self._numbered(number), person)
            case ["trust"]:
                await self._trust(person)
            case _:
                raise UsageError(say("Usage: {usage}", usage=USAGE))
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        word, blank, rest = typed.partition(" ")
        if blank:
            answers = self._answers() if word == "revoke" else ()
            return fitting(rest, ((str(number), answer.text) for number, answer in enumerate(answers, 1)))
        return fitting(
            word,
            [
                ("list", say("what was allowed, and whether the folder is trusted")),
                ("revoke", say("take one of them back")),
                ("trust", say("decide about the folder")),
            ],
        )

    def _answers(self) -> Sequence[GivenAnswer]:
        permission = self.parts.workshop.session.scheduler.permission
        return given_answers(self.parts.ground.places, permission)

    def _listed(self) -> Sheet:
        blocks: list[Block] = [Words(say("Rules from your answers"), Tone.STRONG)]
        rows = tuple((str(number), each.text, each.source) for number, each in enumerate(self._answers(), 1))
        if rows:
            blocks += [
                Table(rows, (say("No."), say("Rule"), say("Kept in"))),
                Words(say("/permissions revoke N takes one back."), Tone.QUIET),
            ]
        else:
            blocks.append(Words(say("There are none: nothing was allowed always."), Tone.QUIET))
        trust = self.parts.ground.trust
        blocks += [Words(say("Folder"), Tone.STRONG), Words(trust.reason)]
        if not trust.is_trusted:
            blocks.append(Words(say("/permissions trust shows what it brings along, and asks you."), Tone.QUIET))
        blocks.append(Words(say("/policy list shows all rules."), Tone.QUIET))
        return Sheet(say("Permissions"), tuple(blocks))

    def _numbered(self, word: str) -> GivenAnswer:
        answers = self._answers()
        if not (word.isascii() and word.isdigit() and 1 <= int(word) <= len(answers)):
            raise UsageError(say("There is no rule {word}. /permissions list shows them with numbers.", word=word))
        return answers[int(word) - 1]

    async def _choose_and_revoke(self, person: Person) -> None:
        answers = self._answers()
        if not answers:
            person.show(told(say("There is nothing to take back.")))
            return
        options = tuple(Option(each.text, each.source) for each in answers)
        taken = await person.choose(Choice(say("Which rule is taken back?"), options))
        if taken is not None:
            self._revoke(answers[taken], person)

    def _revoke(self, answer: GivenAnswer, person: Person) -> None:
        take_back(self.parts.ground.places, self.parts.workshop.session.scheduler.permission, answer)
        person.show(told(say("Taken back: {rule}", rule=answer.text), Tone.GOOD))

    async def _trust(self, person: Person) -> None:
        ground = self.parts.ground
        places, root = ground.places, ground.roots[0]
        match await person.choose(_trust_choice(root, ground.trust)):
            case 0:
                trust_folder(places, root, items=ground.trust.items)  # as it was shown
                text = say("{folder} is trusted as it was when this session began.", folder=root)
            case 1:
                trust_folder(places, root, level=TrustLevel.NOT_TRUSTED)
                text = say("{folder} and everything in it is never trusted.", folder=root)
            case _:
                return
        counts = Words(say("It counts from the next start on."), Tone.QUIET)
        person.show(Sheet(blocks=(Words(text, Tone.GOOD), counts)))


def _trust_choice(root: str, trust: Trust) -> Choice:
    changed = {item.path for item in trust.changed}
    rows = tuple((item.path, item.shown, say("changed") if item.path in changed else "") for item in trust.items)
    says = tuple(Words(f"{item.path}: {line}", Tone.QUIET) for item in trust.items for line in item.says)
    brought: tuple[Block, ...] = (Words(say("It brings along:")), Table(rows), *says)
    if not rows:
        brought = (Words(say("It brings nothing along that needs trust, but its files for the model are read.")),)
    return Choice(
        say("Do you trust what is in this folder?"),
        (
            Option(say("Yes"), say("until one of these files changes")),
            Option(say("Never"), say("nothing of it is used, nor of folders in it")),
            Option(say("Leave it as it is")),
        ),
        initial=2,
        sheet=Sheet(root, (Words(trust.reason), *brought)),
        is_grave=True,
    )
