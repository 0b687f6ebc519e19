"""`/theme`, `/editor` and `/vim`: how the person likes to see and type things."""

from collections.abc import Sequence

from tejat.app.commands.command import Command, fitting
from tejat.app.commands.setting_values import find_row, value_typed
from tejat.app.commands.settings import change
from tejat.app.preferences import theme_called
from tejat.core.agent_events import Tell
from tejat.core.commands import Done, Effect, Suggestion
from tejat.core.errors import UsageError
from tejat.core.person import Choice, Option, Person
from tejat.core.sheet import Tone, told
from tejat.core.status import ThemeName
from tejat.core.words import say

_EDITORS = ("nano", "vim", "nvim", "emacs", "micro", "hx", "code --wait", "zed --wait", "subl --wait")


class Theme(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        if not arguments:
            taken = await person.choose(self._choice())
            if taken is None:
                return Done()
            arguments = list(ThemeName)[taken].value
        theme = theme_called(arguments)
        if theme is None:
            raise UsageError(
                say("There is no theme {name}. There are {names}.", name=arguments, names=", ".join(ThemeName))
            )
        person.show(change(self.parts, find_row("ui.theme"), theme.value))
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        return fitting(typed, ((theme.value, _theme_in_words(theme)) for theme in ThemeName))

    def _choice(self) -> Choice:
        options = tuple(Option(theme.value, _theme_in_words(theme)) for theme in ThemeName)
        return Choice(say("Which colours?"), options, initial=list(ThemeName).index(self.parts.preferences.theme))


def _theme_in_words(theme: ThemeName) -> str:
    match theme:
        case ThemeName.AUTO:
            return say("as the terminal is")
        case ThemeName.DARK:
            return say("for a dark background")
        case ThemeName.LIGHT:
            return say("for a light background")
        case ThemeName.PLAIN:
            return say("no colours")


class Editor(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        row = find_row("general.preferredEditor")
        if not arguments:
            arguments = await self._asked(person) or ""
        if arguments:
            person.show(change(self.parts, row, value_typed(self.parts, row, arguments)))
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        return fitting(typed, ((name, "") for name in _EDITORS))

    async def _asked(self, person: Person) -> str | None:
        now = self.parts.preferences.editor
        other = Option(say("Another one"), say("any command; the file is added at its end"))
        options = (*map(Option, _EDITORS), other)
        initial = _EDITORS.index(now) if now in _EDITORS else 0
        taken = await person.choose(Choice(say("Which editor?"), options, initial=initial))
        if taken is None:
            return None
        if taken < len(_EDITORS):
            return _EDITORS[taken]
        return await person.enter(say("The command of the editor"), initial=now or "")


class Vim(Command):
    async def run(self, arguments: str, person: Person, tell: Tell) -> Effect:
        del tell
        match arguments.lower():
            case "":
                wanted = not self.parts.preferences.vi_keys
            case "on" | "true":
                wanted = True
            case "off" | "false":
                wanted = False
            case _:
                raise UsageError(say("Usage: {usage}", usage="/vim [on | off]"))
        sheet = change(self.parts, find_row("general.vimMode"), wanted)
        if self.parts.preferences.vi_keys is wanted:
            text = say("The keys of vi are on.") if wanted else say("The keys of vi are off.")
            sheet = told(text, Tone.GOOD)
        person.show(sheet)
        return Done()

    async def suggestions(self, typed: str) -> Sequence[Suggestion]:
        return fitting(typed, [("on", ""), ("off", "")])
