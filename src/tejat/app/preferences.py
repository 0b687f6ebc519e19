"""Display and input preferences from the settings."""

from tejat.config.settings.types import Settings
from tejat.core.ui.status import (
    NotificationMethod,
    NotificationOptions,
    Preferences,
    StatusItem,
    StatusLineOptions,
    ThemeName,
    TitleOptions,
    WelcomeOptions,
)

# The themes of Gemini CLI by the background they are made for.
_LIGHT_THEMES = frozenset(
    {"ansi light", "ayu light", "default light", "github light", "google code", "solarized light", "vs", "xcode"}
)
_DARK_THEMES = frozenset(
    {
        *("ansi", "atom one", "ayu", "default", "dracula", "github", "holiday"),
        *("shades of purple", "solarized dark", "tokyo night", "vs2015"),
    }
)
_PLAIN_THEMES = frozenset({"no color", "nocolor"})


def preferences_from_settings(settings: Settings) -> Preferences:
    return Preferences(
        theme=_chosen_theme(settings),
        vi_mode=settings.vim_mode.value,
        editor=None if settings.preferred_editor is None else settings.preferred_editor.value,
        editor_new_window=settings.editor_new_window.value,
        animations=settings.animations.value,
        escapes_pasted_at=settings.escape_pasted_at.value,
        status_line=_status_line_options(settings),
        shows_thoughts=settings.inline_thinking.value == "full",
        shows_model=settings.shows_model_in_chat.value,
        welcome=WelcomeOptions(hides_banner=settings.hides_banner.value, hides_tips=settings.hides_tips.value),
        title=TitleOptions(
            is_hidden=settings.hides_window_title.value,
            is_dynamic=settings.dynamic_window_title.value,
            shows_thoughts=settings.shows_status_in_title.value,
        ),
        notifications=NotificationOptions(
            settings.notifications_enabled.value, NotificationMethod(settings.notification_method.value)
        ),
    )


def _status_line_options(settings: Settings) -> StatusLineOptions:
    hidden = {
        StatusItem.WORKSPACE: settings.footer_hides_folder.value,
        StatusItem.SANDBOX: settings.footer_hides_sandbox.value,
        StatusItem.MODEL: settings.footer_hides_model.value,
        StatusItem.CONTEXT: settings.footer_hides_context.value,
    }
    items = settings.footer_items
    return StatusLineOptions(
        None if items is None else tuple(map(StatusItem, items.value)),
        frozenset(item for item, is_hidden in hidden.items() if is_hidden),
        is_hidden=settings.hides_footer.value,
    )


def _chosen_theme(settings: Settings) -> ThemeName:
    """The theme of the settings. A custom one stands for dark or light, an unknown one for that of the terminal."""
    if settings.theme is None:
        return ThemeName.AUTO if settings.auto_theme.value else ThemeName.DARK
    custom = settings.custom_themes.get(settings.theme.value)
    if custom is not None:
        return ThemeName(custom.value or ThemeName.AUTO)
    return find_theme(settings.theme.value) or ThemeName.AUTO


def find_theme(name: str) -> ThemeName | None:
    """Find the theme for a name of ours or of Gemini CLI, None if it is unknown."""
    word = name.strip().lower()
    if word in list(ThemeName):
        return ThemeName(word)
    if word in _PLAIN_THEMES:
        return ThemeName.PLAIN
    if word in _DARK_THEMES:
        return ThemeName.DARK
    return ThemeName.LIGHT if word in _LIGHT_THEMES else None
