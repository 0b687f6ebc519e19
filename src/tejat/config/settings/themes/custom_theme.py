"""Custom themes in settings: the nested form of Gemini CLI and its older flat one."""

from tejat.config.settings.file import SettingValue
from tejat.config.settings.themes.colours import is_dark_colour, parse_colour
from tejat.core.i18n import lazy
from tejat.core.ui.theme_colours import ThemeColours

# Where the colours are, the newer name first.
_PLACES = {
    "background": ("background.primary", "Background"),
    "text": ("text.primary", "Foreground"),
    "secondary": ("text.secondary", "Gray"),
    "link": ("text.link", "AccentBlue"),
    "accent": ("text.accent", "AccentPurple"),
    "success": ("status.success", "AccentGreen"),
    "warning": ("status.warning", "AccentYellow"),
    "error": ("status.error", "AccentRed"),
    "added": ("background.diff.added", "DiffAdded"),
    "removed": ("background.diff.removed", "DiffRemoved"),
    "keyword": ("text.link", "AccentBlue"),
    "string": ("status.warning", "AccentYellow"),
    "number": ("status.success", "AccentGreen"),
    "function": ("text.primary", "Foreground"),
    "type_name": ("text.link", "AccentCyan"),
    "comment": ("ui.comment", "Comment"),
}
# Checked like the others, though nothing here has these colours.
_UNUSED = frozenset(
    {
        *("text.response", "background.message", "background.input", "background.focus", "border.default"),
        *("border.focused", "ui.symbol", "ui.active", "ui.dark", "ui.focus", "LightBlue", "DarkGray"),
        *("InputBackground", "MessageBackground", "FocusBackground", "FocusColor"),
    }
)
_COLOUR_KEYS = _UNUSED | {place for places in _PLACES.values() for place in places}
_LISTS = frozenset({"ui.gradient", "GradientColors"})
_GROUPS = frozenset({"text", "background", "background.diff", "border", "ui", "status"})
_MAX_NAME = 50


def read_custom_theme(found: SettingValue) -> ThemeColours:
    """Read a member of `ui.customThemes`. Raises SettingsError for a wrong colour, naming its key."""
    return read_theme(found, found.name.rpartition("customThemes.")[2])


def read_theme(found: SettingValue, name: str) -> ThemeColours:
    """Read an object with colours as the theme of this name. Raises SettingsError."""
    colours = _read_colours(found, "")
    given = found.members()
    if len(name.strip()) > _MAX_NAME:
        raise found.error(lazy("a theme whose name has at most {count} characters", count=_MAX_NAME))
    if "type" in given:
        given["type"].choice(("custom", "dark", "light"))
    chosen = {
        role: next(filter(None, (colours.get(place) for place in places)), "") for role, places in _PLACES.items()
    }
    return ThemeColours(name, is_dark_colour(chosen["background"]), **chosen)


def _read_colours(found: SettingValue, inside: str) -> dict[str, str]:
    """Read the colours of an object and of the objects in it, by their dotted names. Other members are ignored."""
    colours: dict[str, str] = {}
    for name, member in found.members().items():
        place = f"{inside}{name}"
        if place in _GROUPS:
            colours |= _read_colours(member, f"{place}.")
        elif place in _COLOUR_KEYS:
            if not member.is_blank:
                colours[place] = _read_colour(member)
        elif place in _LISTS:
            for entry in member.entries():
                _read_colour(entry)
    return colours


def _read_colour(found: SettingValue) -> str:
    colour = parse_colour(found.string())
    if colour is None:
        raise found.error(lazy("a colour such as #1e90ff, #19f or the CSS name dodgerblue"))
    return colour
