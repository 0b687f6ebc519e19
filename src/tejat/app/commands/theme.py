"""`/theme`: choose the colours, with a preview."""

from collections.abc import Mapping, Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.setting_values import find_setting
from tejat.app.commands.settings import write_setting
from tejat.app.session.preferences import find_theme, resolve_theme_name, theme_names
from tejat.config.settings.themes.catalogue import load_themes
from tejat.config.settings.types import Settings
from tejat.core.frozen import replace
from tejat.core.i18n import _, lazy, translate
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import Choice, ChoicePreview, Option, UserPrompter
from tejat.core.ui.report import DiffBlock, Paragraph, Report, SourceListing, Tone
from tejat.core.ui.status import ThemeName


class ThemeCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        settings = self.context.reload_settings()
        names = _labelled_names(settings)
        if not arguments:
            index = await user.choose(self._choice(settings, names))
            if index is None:
                return
            arguments = list(names)[index]
        name = resolve_theme_name(arguments, settings)
        user.show(write_setting(self.context, find_setting("ui.theme"), name))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, _labelled_names(self.context.reload_settings()).items())

    def _choice(self, settings: Settings, names: Mapping[str, str]) -> Choice:
        preferences = self.context.preferences
        current = preferences.theme.value if preferences.colours is None else preferences.colours.name
        sample = _sample_report()

        def preview(index: int) -> ChoicePreview:
            theme, colours = find_theme(list(names)[index], settings) or (ThemeName.AUTO, None)
            return ChoicePreview(sample, replace(preferences, theme=theme, colours=colours))

        options = tuple(Option(name, label) for name, label in names.items())
        initial = list(names).index(current) if current in names else 0
        return Choice(_("Choose a theme"), options, initial=initial, preview=preview)


def _labelled_names(settings: Settings) -> dict[str, str]:
    """Return the names of all themes, each with a few words about it."""
    return {name: _label(name, settings) for name in theme_names(settings)}


def _label(name: str, settings: Settings) -> str:
    if name in settings.custom_themes:
        return _("custom")
    if name in list(ThemeName):
        return translate(_OWN_LABELS[ThemeName(name)])
    return _("dark") if load_themes()[name].is_dark else _("light")


_OWN_LABELS = {
    ThemeName.AUTO: lazy("follows the terminal background"),
    ThemeName.DARK: lazy("for a dark background"),
    ThemeName.LIGHT: lazy("for a light background"),
    ThemeName.PLAIN: lazy("no colours"),
}


def _sample_report() -> Report:
    """Return code, a diff and messages to show a theme with."""
    return Report(
        "",
        (
            SourceListing(_SAMPLE_CODE, "python"),
            DiffBlock(_SAMPLE_DIFF),
            Paragraph(_("Ran pytest -q"), Tone.GOOD),
            Paragraph(_("2 files changed outside this session"), Tone.WARNING),
            Paragraph(_("Command not found: pytset"), Tone.BAD),
            Paragraph(_("Quiet text, such as a hint"), Tone.QUIET),
        ),
    )


_SAMPLE_CODE = """\
def total(items: list[Item]) -> float:  # before tax
    return sum(item.price for item in items) or 0.0
"""
_SAMPLE_DIFF = '''\
--- price.py
+++ price.py
@@ -1,3 +1,4 @@
 def discount(price, percent):
-    return price - price * percent
+    """The price after a discount."""
+    return price - price * percent / 100
'''
