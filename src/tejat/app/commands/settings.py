"""`/settings`: every setting with its value and who set it, and changing the person's own."""

from collections.abc import Sequence

from tejat.app.commands.command import Command, fitting
from tejat.app.commands.premises import DeskParts
from tejat.app.commands.setting_values import (
    ALL_ROWS,
    AT_ONCE,
    ShownSetting,
    find_row,
    name_in_file,
    shown_setting,
    shown_settings,
    value_typed,
)
from tejat.config.settings_table import Row
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Suggestion
from tejat.core.person import Choice, Option, Person
from tejat.core.sheet import Block, Sheet, Table, Tone, Words
from tejat.core.types import JsonValue
from tejat.core.words import say


class SettingsCommand(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        name, _, typed = arguments.partition(" ")
        match name.lower(), typed.strip():
            case "", _:
                await self._choose(person)
            case "list", "":
                person.show(self._listed())
            case "unset", given if given:
                row = find_row(given)
                self.parts.forget(name_in_file(self.parts, row).split("."))
                person.show(changed(self.parts, row))
            case _, "":
                person.show(_one(shown_setting(self.parts.settings_now(), find_row(name))))
            case _, given:
                row = find_row(name)
                person.show(change(self.parts, row, value_typed(self.parts, row, given)))
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        name, blank, rest = typed.partition(" ")
        known = {shown.name: shown for shown in shown_settings(self.parts.settings_now())}
        if not blank or name == "unset":
            words = [] if blank else [("list", say("all of them")), ("unset", say("take a setting of yours away"))]
            return fitting(rest if blank else name, [*words, *((each.name, each.value) for each in known.values())])
        if name == "ui.theme":
            return fitting(rest, ((word, "") for word in ("auto", "dark", "light", "plain")))
        is_switch = name in known and known[name].is_switch
        return fitting(rest, [("true", ""), ("false", "")]) if is_switch else ()

    def _listed(self) -> Sheet:
        rows = tuple(
            (shown.name, shown.value, shown.source)
            for shown in shown_settings(self.parts.settings_now())
            if shown.value or shown.source
        )
        return Sheet(
            say("Settings"),
            (
                Table(rows, (say("Name"), say("Value"), say("Set by"))),
                Words(say("Your own are in {path}", path=self.parts.settings_path), Tone.QUIET),
                Words(say("/settings NAME VALUE changes one, /settings unset NAME takes one away."), Tone.QUIET),
            ),
        )

    async def _choose(self, person: Person) -> None:
        """Every setting that has one value, and what it is to be."""
        settings = self.parts.settings_now()
        shown = [each for each in shown_settings(settings) if each.name not in _OF_SEVERAL]
        options = tuple(Option(each.name, each.value) for each in shown)
        taken = await person.choose(Choice(say("Which setting do you want to change?"), options))
        if taken is None:
            return
        row = find_row(shown[taken].name)
        typed = await _asked(shown[taken], person)
        if typed is not None and typed.strip():
            person.show(change(self.parts, row, value_typed(self.parts, row, typed.strip())))


_OF_SEVERAL = frozenset(
    {"mcpServers", "hooks", "hooksConfig", "telemetry", "model.prices", "model.summarizeToolOutput"}
)


async def _asked(shown: ShownSetting, person: Person) -> str | None:
    if not shown.is_switch:
        return await person.enter(shown.name, initial=shown.value)
    words = ("true", "false")
    choice = Choice(shown.name, tuple(map(Option, words)), initial=words.index(shown.value))
    taken = await person.choose(choice)
    return None if taken is None else words[taken]


def change(parts: DeskParts, row: Row, given: JsonValue) -> Sheet:
    """Write a value that was checked into the person's own settings, and tell what came of it.

    Raises SettingsError, UsageError and OSError.
    """
    parts.keep(name_in_file(parts, row).split("."), given)
    return changed(parts, row)


def changed(parts: DeskParts, row: Row) -> Sheet:
    """What counts after a change in the file. What can take effect at once does."""
    settings = parts.settings_now()
    shown = shown_setting(settings, row)
    parts.take_preferences(settings)
    value = shown.value or say("not set")
    blocks: list[Block] = [Words(say("{name} is now {value}.", name=shown.name, value=value), Tone.GOOD)]
    if shown.source and not shown.source.startswith((parts.settings_path, "default")):
        text = say("That is what {source} says, which has the last word.", source=shown.source)
        blocks.append(Words(text, Tone.WARNING))
    if shown.name not in AT_ONCE:
        blocks.append(Words(say("It counts from the next start on."), Tone.QUIET))
    return Sheet(blocks=tuple(blocks))


def _one(shown: ShownSetting) -> Sheet:
    names = ", ".join(name for row in ALL_ROWS if row.key.names[0] == shown.name for name in row.key.names[1:])
    rows = [(say("Value"), shown.value or say("not set")), (say("Set by"), shown.source or say("nobody"))]
    if names:
        rows.append((say("Also called"), names))
    return Sheet(shown.name, (Table(tuple(rows)),))
