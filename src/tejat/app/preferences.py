"""How a person likes to see and type things, as their settings say."""

from collections.abc import Mapping

from tejat.config.paths import app_paths
from tejat.config.settings.loader import load_settings
from tejat.config.settings.types import Settings
from tejat.core.ui.status import Preferences, ThemeName

# The themes of Gemini CLI by what they are made for; any other name is as good as none.
_LIGHT_THEMES = frozenset(
    {"ansi light", "ayu light", "default light", "github light", "google code", "solarized light", "xcode"}
)
_DARK_THEMES = frozenset(
    {
        *("ansi", "atom one", "ayu", "default", "dracula", "github", "holiday"),
        *("shades of purple", "solarized dark", "tokyo night"),
    }
)
_PLAIN_THEMES = frozenset({"no color", "nocolor"})


def load_user_preferences(environment: Mapping[str, str]) -> tuple[Preferences, bool]:
    """What the person likes, before any folder has a say, and whether they have a screen reader. Raises UsageError."""
    settings = load_settings(app_paths(environment), (), trusted=False, environment=environment)
    return preferences_from_settings(settings), settings.screen_reader.value


def preferences_from_settings(settings: Settings) -> Preferences:
    return Preferences(
        theme=ThemeName.AUTO if settings.theme is None else find_theme(settings.theme.value) or ThemeName.AUTO,
        vi_mode=settings.vim_mode.value,
        editor=None if settings.preferred_editor is None else settings.preferred_editor.value,
        animations=settings.animations.value,
    )


def find_theme(name: str) -> ThemeName | None:
    """The theme that a name of ours or of Gemini CLI stands for, None if it stands for none."""
    word = name.strip().lower()
    if word in list(ThemeName):
        return ThemeName(word)
    if word in _PLAIN_THEMES:
        return ThemeName.PLAIN
    if word in _DARK_THEMES:
        return ThemeName.DARK
    return ThemeName.LIGHT if word in _LIGHT_THEMES else None
