"""How a person likes to see and type things, as their settings say."""

from collections.abc import Mapping

from tejat.config.load import load_settings
from tejat.config.places import places_of
from tejat.config.settings import Settings
from tejat.core.status import Preferences, ThemeName

# The themes of Gemini CLI by what they are made for; any other name is as good as none.
_LIGHT = frozenset(
    {"ansi light", "ayu light", "default light", "github light", "google code", "solarized light", "xcode"}
)
_DARK = frozenset(
    {
        *("ansi", "atom one", "ayu", "default", "dracula", "github", "holiday"),
        *("shades of purple", "solarized dark", "tokyo night"),
    }
)
_WITHOUT_COLOUR = frozenset({"no color", "nocolor"})


def own_preferences(environment: Mapping[str, str]) -> tuple[Preferences, bool]:
    """What the person likes, before any folder has a say, and whether they have a screen reader. Raises UsageError."""
    settings = load_settings(places_of(environment), (), trusted=False, environment=environment)
    return preferences_of(settings), settings.screen_reader.value


def preferences_of(settings: Settings) -> Preferences:
    return Preferences(
        theme=ThemeName.AUTO if settings.theme is None else theme_called(settings.theme.value) or ThemeName.AUTO,
        vi_keys=settings.vim_mode.value,
        editor=None if settings.preferred_editor is None else settings.preferred_editor.value,
        animates=settings.animations.value,
    )


def theme_called(name: str) -> ThemeName | None:
    """The theme that a name of ours or of Gemini CLI stands for, None if it stands for none."""
    word = name.strip().lower()
    if word in list(ThemeName):
        return ThemeName(word)
    if word in _WITHOUT_COLOUR:
        return ThemeName.PLAIN
    if word in _DARK:
        return ThemeName.DARK
    return ThemeName.LIGHT if word in _LIGHT else None
