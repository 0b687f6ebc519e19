"""`/theme`: choose the colours."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.setting_values import find_setting
from tejat.app.commands.settings import write_setting
from tejat.app.preferences import find_theme
from tejat.core.errors import UsageError
from tejat.core.i18n import _, lazy, translate
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.status import ThemeName


class ThemeCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        if not arguments:
            options = tuple(Option(theme.value, translate(label)) for theme, label in _THEME_LABELS.items())
            initial = list(ThemeName).index(self.context.preferences.theme)
            index = await user.choose(Choice(_("Which colours?"), options, initial=initial))
            if index is None:
                return
            arguments = list(ThemeName)[index].value
        theme = find_theme(arguments)
        if theme is None:
            names = ", ".join(ThemeName)
            raise UsageError(_("There is no theme {name}. There are {names}.", name=arguments, names=names))
        user.show(write_setting(self.context, find_setting("ui.theme"), theme.value))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, ((theme.value, translate(label)) for theme, label in _THEME_LABELS.items()))


_THEME_LABELS = {
    ThemeName.AUTO: lazy("as the terminal is"),
    ThemeName.DARK: lazy("for a dark background"),
    ThemeName.LIGHT: lazy("for a light background"),
    ThemeName.PLAIN: lazy("no colours"),
}
