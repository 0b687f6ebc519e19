"""`/policy`: the rules that decide about calls, what they would decide, and the approval mode."""

import json
import shlex
from collections.abc import Sequence
from typing import cast

from tejat.app.commands.command import Command, fitting
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Suggestion
from tejat.core.errors import UsageError
from tejat.core.explain import MODES, Explanation
from tejat.core.json_text import NotJson, load_json
from tejat.core.person import Choice, Option, Person
from tejat.core.sheet import Block, Sheet, Table, Tone, Words, told
from tejat.core.types import Params
from tejat.core.words import joined, say
from tejat.engine.load_policy import mode_of
from tejat.engine.policy_book import Judge, PolicyBook
from tejat.policy.rules import Mode

USAGE = "/policy [list | explain CALL | mode MODE]"
_SHELL = "run_shell_command"


class Policy(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        word, _, rest = arguments.partition(" ")
        match word.lower(), rest.strip():
            case (("" | "list"), ""):
                person.show(self._listed())
            case "explain", call if call:
                person.show(self._explained(call))
            case "mode", mode:
                await self._mode(mode, person)
            case _:
                raise UsageError(say("Usage: {usage}", usage=USAGE))
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        word, blank, rest = typed.partition(" ")
        match word if blank else "":
            case "mode":
                return fitting(rest, ((mode, "") for mode in MODES))
            case "explain" if " " not in rest:
                entries = self.parts.workshop.session.registry.entries()
                return fitting(rest, ((entry.name, entry.display_name) for entry in entries))
            case _:
                pass
        if blank:
            return ()
        return fitting(
            word,
            [
                ("list", say("all rules and where they stand")),
                ("explain", say("what would be decided about a call, and why")),
                ("mode", say("how much is done without asking")),
            ],
        )

    @property
    def _book(self) -> PolicyBook:
        tools = self.parts.workshop.session
        judge = Judge(tools.settings, tools.registry, tools.scheduler.permission)
        return PolicyBook(self.parts.ground.places, lambda: judge)

    def _listed(self) -> Sheet:
        book = self._book
        rows = tuple((rule.tier, rule.text, rule.source) for rule in book.rules())
        return Sheet(
            say("Rules, those with the last word first"),
            (
                Words(say("Mode: {mode}", mode=self.parts.workshop.session.scheduler.permission.policy.mode.value)),
                Table(rows, (say("Whose"), say("Rule"), say("Where"))),
                *(Words(problem, Tone.WARNING) for problem in book.problems()),
            ),
        )

    def _explained(self, call: str) -> Sheet:
        name, _, rest = call.partition(" ")
        tool = self.parts.workshop.session.registry.get(name)
        if tool is None:
            # Most often it is a shell line that somebody wants to know of.
            return _shown(call, self._book.decide(_SHELL, {"command": call}))
        is_line = tool.name == _SHELL and rest and not rest.lstrip().startswith(("{", "command="))
        arguments = {"command": rest.strip()} if is_line else _arguments(rest.strip())
        return _shown(call, self._book.decide(name, arguments))

    async def _mode(self, wanted: str, person: Person) -> None:
        permission, ground = self.parts.workshop.session.scheduler.permission, self.parts.ground
        before = permission.policy.mode
        if not wanted:
            person.show(told(say("Mode: {mode}", mode=before.value)))
            return
        mode = mode_of(ground.settings, wanted)
        if not ground.trust.is_trusted and mode is not Mode.DEFAULT:
            raise UsageError(
                say(
                    "This folder is not trusted, so the mode stays {mode}. `tejat trust` tells more.", mode=before.value
                )
            )
        if mode is Mode.YOLO and before is not mode and await person.choose(_everything()) != 1:
            return
        permission.policy = permission.policy.in_mode(mode)
        person.show(told(say("From now on the mode is {mode}.", mode=mode.value), Tone.GOOD))


def _everything() -> Choice:
    return Choice(
        say("Everything would run without asking until this session ends, also what deletes. Go on?"),
        (Option(say("No")), Option(say("Yes, run everything"))),
        is_grave=True,
    )


def _arguments(text: str) -> Params:
    """One JSON object, or words like `key=value`, whose values may be JSON. Raises UsageError."""
    if not text:
        return {}
    try:
        if text.startswith("{"):
            return cast("dict[str, object]", load_json(text))
        pairs = [word.partition("=") for word in shlex.split(text)]
    except (NotJson, ValueError) as error:
        raise UsageError(say("The arguments cannot be read: {why}.", why=error)) from None
    if not all(key and equals for key, equals, _ in pairs):
        raise UsageError(say("Give the arguments as one JSON object, or as words like key=value."))
    return {key: _value(given) for key, _, given in pairs}


def _value(text: str) -> object:
    """A list or an object is meant as one; anything else is as it was typed."""
    if not text.startswith(("[", "{")):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _shown(call: str, found: Explanation) -> Sheet:
    blocks: list[Block] = [
        Words(joined("", (found.decision, ": ", found.reason)), Tone.STRONG),
        Table(
            (
                (say("Rule"), found.rule or say("none matches")),
                (say("Where"), found.source),
            )
        ),
    ]
    if found.commands:
        blocks += [Words(say("Commands in the line")), Words(_indented(found.commands))]
    if found.doubts:
        blocks += [Words(say("Why it is not plain")), Words(_indented(found.doubts))]
    return Sheet(call, tuple(blocks))


def _indented(lines: Sequence[str]) -> str:
    return joined("\n", (joined("", ("  ", line)) for line in lines))
