"""What all commands about MCP servers say in the same way."""

import os
import sys
from collections.abc import Collection, Mapping, Sequence

from tejat.core.i18n import _, translate
from tejat.core.sanitize import sanitize_line, sanitize_text
from tejat.core.text.edit_distance import edit_distance

_MAX_NAMES = 3


def one_line(text: str) -> str:
    """Text that can pass for no other line of ours."""
    return sanitize_line(translate(text))


def print_note(text: str) -> None:
    """Something that the person should know besides."""
    print(f"tejat: {sanitize_text(translate(text))}", file=sys.stderr)


def home_scope_error() -> str:
    return _("Error: Please use --scope user to edit settings in the home directory.")


def folder_changed_note() -> str:
    return _("Something else in this folder has changed since it was trusted. Look at it with `tejat trust`.")


def print_unknown_server(name: str, known: Collection[str], notes: Sequence[str]) -> None:
    """Tell of a server that nobody knows, and why that may be."""
    for line in notes:
        print_note(line)
    print_note(unknown_server_message(name, known))


def unknown_server_message(name: str, known: Collection[str]) -> str:
    """What to say of a server that nobody knows."""
    said = _('There is no MCP server "{name}" in the settings.', name=one_line(name))
    if not known:
        return said + " " + _("`tejat mcp add` adds one.")
    near = sorted(known, key=lambda other: (edit_distance(name.lower()[:100], other.lower()[:100]), other))
    listed = ", ".join(map(one_line, near[:_MAX_NAMES]))
    return said + " " + _("Known are: {names}.", names=listed)


def supports_unicode(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the terminal is likely to have more than ASCII, as the locale says."""
    given = {name: environment.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG")}
    # Python itself sets this for whatever it starts when it finds no other locale.
    if given["LC_CTYPE"] == "C.UTF-8":
        given["LC_CTYPE"] = ""
    locale = given["LC_ALL"] or given["LC_CTYPE"] or given["LANG"]
    return "utf8" in locale.lower().replace("-", "")
