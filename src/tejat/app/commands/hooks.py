"""`/hooks`: the hooks of the settings, and switching them."""

from collections.abc import Sequence

from tejat.app.commands.command import Command, fitting
from tejat.config.hooks import Hook, read_hooks
from tejat.config.places import SourceTier
from tejat.config.settings import Settings
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Suggestion
from tejat.core.errors import UsageError
from tejat.core.person import Person
from tejat.core.sheet import Block, Sheet, Table, Tone, Words
from tejat.core.types import JsonValue
from tejat.core.value import value
from tejat.core.words import say

USAGE = "/hooks [list | enable NAME | disable NAME]"
_PLACES = ("hooksConfig", "hooks")
"""Where names of hooks that are off may stand, the place first that new ones are written to."""


@value
class _Known:
    """All hooks of the settings, and those of them that run."""

    all: tuple[Hook, ...]
    running: tuple[Hook, ...]
    warnings: tuple[str, ...]


class Hooks(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        word, _, rest = arguments.partition(" ")
        match word.lower(), rest.strip():
            case (("" | "list"), ""):
                person.show(_listed(_known(self.parts.settings_now())))
            case "enable", name if name:
                person.show(self._switched(name, on=True))
            case "disable", name if name:
                person.show(self._switched(name, on=False))
            case _:
                raise UsageError(say("Usage: {usage}", usage=USAGE))
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        word, blank, rest = typed.partition(" ")
        if not blank:
            options = [
                ("list", say("all hooks")),
                ("enable", say("let a hook run")),
                ("disable", say("switch one off")),
            ]
            return fitting(word, options)
        hooks = _known(self.parts.settings_now()).all if word in ("enable", "disable") else ()
        return fitting(rest, dict.fromkeys((hook.name, hook.event.value) for hook in hooks))

    def _switched(self, name: str, *, on: bool) -> Sheet:
        known = _known(self.parts.settings_now())
        named = [hook for hook in known.all if hook.name == name]
        if not named:
            names = ", ".join(dict.fromkeys(hook.name for hook in known.all)) or say("none")
            raise UsageError(say("There is no hook {name}. Known: {names}.", name=name, names=names))
        for place in _PLACES if on else _PLACES[:1]:
            off = _off_by_person(self.parts.settings_now(), place)
            wanted: list[JsonValue] = [each for each in off if each != name] if on else [*off, name]
            if on is (name in off):
                self.parts.keep((place, "disabled"), wanted)
        running = [hook for hook in _known(self.parts.settings_now()).running if hook.name == name]
        text = (
            say("The hook {name} is on from the next start on.", name=name)
            if running
            else say("The hook {name} is off from the next start on.", name=name)
        )
        blocks: list[Block] = [Words(text, Tone.GOOD if on is bool(running) else Tone.WARNING)]
        if on is not bool(running):
            blocks.append(Words(say("Somebody with more of a say decides that: see docs/hooks.md."), Tone.QUIET))
        return Sheet(blocks=tuple(blocks))


def _known(settings: Settings) -> _Known:
    found = read_hooks(settings.hooks, settings.hooks_switches)
    given = {name: entries for name, entries in settings.hooks.items() if name not in ("disabled", "enabled")}
    return _Known(read_hooks(given, {}).hooks, found.hooks, found.warnings)


def _off_by_person(settings: Settings, place: str) -> list[str]:
    held = settings.hooks_switches if place == _PLACES[0] else settings.hooks
    entries = held.get("disabled", ())
    return [entry.value for entry in entries if entry.tier is SourceTier.USER and isinstance(entry.value, str)]


def _listed(known: _Known) -> Sheet:
    if not known.all and not known.warnings:
        return Sheet(blocks=(Words(say("No hooks are configured. docs/hooks.md tells what they can do.")),))
    rows = tuple(
        (
            hook.name,
            hook.event.value,
            hook.matcher or "*",
            say("on") if hook in known.running else say("off"),
            hook.source,
        )
        for hook in known.all
    )
    headings = (say("Name"), say("Event"), say("For"), say("Now"), say("Set by"))
    return Sheet(say("Hooks"), (Table(rows, headings), *(Words(warning, Tone.WARNING) for warning in known.warnings)))
