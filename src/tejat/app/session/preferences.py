"""Display and input preferences from the settings."""

from tejat.config.settings.types import Settings
from tejat.core.errors import UsageError
from tejat.core.i18n import _
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
from tejat.core.ui.theme_colours import ThemeColours

_PLAIN_THEMES = frozenset({"no color", "nocolor"})


def preferences_from_settings(settings: Settings) -> Preferences:
    theme, colours = _chosen_theme(settings)
    return Preferences(
        theme=theme,
        colours=colours,
        uses_backgrounds=settings.uses_backgrounds.value,
        shows_line_numbers=settings.shows_line_numbers.value,
        vi_mode=settings.vim_mode.value,
        editor=None if settings.preferred_editor is None else settings.preferred_editor.value,
        editor_new_window=settings.editor_new_window.value,
        animations=settings.animations.value,
        escapes_pasted_at=settings.escape_pasted_at.value,
        status_line=_status_line_options(settings),
        shows_thoughts=settings.inline_thinking.value == "full",
        shows_model=settings.shows_model_in_chat.value,
        compact_results=settings.compact_tool_output.value,
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


def _chosen_theme(settings: Settings) -> tuple[ThemeName, ThemeColours | None]:
    """The theme of the settings. An unknown one stands for that of the terminal."""
    if settings.theme is None:
        return ThemeName.AUTO if settings.auto_theme.value else ThemeName.DARK, None
    return find_theme(settings.theme.value, settings) or (ThemeName.AUTO, None)


def find_theme(name: str, settings: Settings) -> tuple[ThemeName, ThemeColours | None] | None:
    """Find a theme by name: a custom one, one of ours, or one of Gemini CLI with its colours. None if it is unknown."""
    if (custom := settings.custom_themes.get(name)) is not None:
        return background_theme(custom.value), custom.value
    word = name.strip().lower()
    if word in list(ThemeName):
        return ThemeName(word), None
    if word in _PLAIN_THEMES:
        return ThemeName.PLAIN, None
    # Imported late: few people choose one of these.
    from tejat.config.settings.themes.catalogue import find_named_theme

    found = find_named_theme(word)
    return None if found is None else (background_theme(found), found)


def theme_names(settings: Settings) -> list[str]:
    """Return the names of all themes: ours, the user's, those of Gemini CLI."""
    from tejat.config.settings.themes.catalogue import load_themes

    return list(dict.fromkeys((*(name.value for name in ThemeName), *settings.custom_themes, *load_themes())))


def resolve_theme_name(typed: str, settings: Settings) -> str:
    """Return the name of a theme that is typed in any case or by a former name. Raises UsageError."""
    names = theme_names(settings)
    name = next((name for name in names if name.lower() == typed.strip().lower()), None)
    if name is not None:
        return name
    found = find_theme(typed, settings)
    if found is None:
        raise UsageError(_("Unknown theme '{name}'. Choose one of: {names}.", name=typed, names=", ".join(names)))
    return found[0].value if found[1] is None else found[1].name


def background_theme(colours: ThemeColours) -> ThemeName:
    """Return the theme for the background that the colours are made for."""
    return {True: ThemeName.DARK, False: ThemeName.LIGHT, None: ThemeName.AUTO}[colours.is_dark]
