"""`/theme`, `/editor` and `/vim`: how the person likes to see and type things."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.setting_values import find_setting, parse_value
from tejat.app.commands.settings import write_setting
from tejat.app.preferences import find_theme
from tejat.core.agent.events import EventSink
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.ui.commands import CommandAction, CompletionItem, NoAction
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Tone, text_report
from tejat.core.ui.status import ThemeName

_EDITORS = ("nano", "vim", "nvim", "emacs", "micro", "hx", "code --wait", "zed --wait", "subl --wait")


class ThemeCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter, emit: EventSink) -> CommandAction:
        del emit
        if not arguments:
            taken = await user.choose(self._choice())
            if taken is None:
                return NoAction()
            arguments = list(ThemeName)[taken].value
        theme = find_theme(arguments)
        if theme is None:
            raise UsageError(
                _("There is no theme {name}. There are {names}.", name=arguments, names=", ".join(ThemeName))
            )
        user.show(write_setting(self.context, find_setting("ui.theme"), theme.value))
        return NoAction()

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, ((theme.value, _theme_label(theme)) for theme in ThemeName))

    def _choice(self) -> Choice:
        options = tuple(Option(theme.value, _theme_label(theme)) for theme in ThemeName)
        return Choice(_("Which colours?"), options, initial=list(ThemeName).index(self.context.preferences.theme))


def _theme_label(theme: ThemeName) -> str:
    match theme:
        case ThemeName.AUTO:
            return _("as the terminal is")
        case ThemeName.DARK:
            return _("for a dark background")
        case ThemeName.LIGHT:
            return _("for a light background")
        case ThemeName.PLAIN:
            return _("no colours")


class EditorCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter, emit: EventSink) -> CommandAction:
        del emit
        row = find_setting("general.preferredEditor")
        if not arguments:
            arguments = await self._choose(user) or ""
        if arguments:
            user.show(write_setting(self.context, row, parse_value(self.context, row, arguments)))
        return NoAction()

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, ((name, "") for name in _EDITORS))

    async def _choose(self, user: UserPrompter) -> str | None:
        now = self.context.preferences.editor
        other = Option(_("Another one"), _("any command; the file is added at its end"))
        options = (*map(Option, _EDITORS), other)
        initial = _EDITORS.index(now) if now in _EDITORS else 0
        taken = await user.choose(Choice(_("Which editor?"), options, initial=initial))
        if taken is None:
            return None
        if taken < len(_EDITORS):
            return _EDITORS[taken]
        return await user.enter(_("The command of the editor"), initial=now or "")


class VimCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter, emit: EventSink) -> CommandAction:
        del emit
        match arguments.lower():
            case "":
                wanted = not self.context.preferences.vi_mode
            case "on" | "true":
                wanted = True
            case "off" | "false":
                wanted = False
            case _:
                raise UsageError(_("Usage: {usage}", usage="/vim [on | off]"))
        report = write_setting(self.context, find_setting("general.vimMode"), wanted)
        if self.context.preferences.vi_mode is wanted:
            text = _("The keys of vi are on.") if wanted else _("The keys of vi are off.")
            report = text_report(text, Tone.GOOD)
        user.show(report)
        return NoAction()

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, [("on", ""), ("off", "")])
