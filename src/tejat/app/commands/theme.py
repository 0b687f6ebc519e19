"""`/theme`: choose the colours."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.setting_values import find_setting
from tejat.app.commands.settings import write_setting
from tejat.app.preferences import find_theme
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.ui.commands import CommandAction, CompletionItem, NoAction
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.status import ThemeName


class ThemeCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> CommandAction:
        if not arguments:
            index = await user.choose(self._choice())
            if index is None:
                return NoAction()
            arguments = list(ThemeName)[index].value
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
