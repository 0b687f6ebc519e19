"""What all commands about MCP servers say in the same way."""

import os
import sys
from collections.abc import Collection, Mapping, Sequence

from tejat.core.nearest import distance
from tejat.core.visible import visible
from tejat.core.words import say, translated

_MOST_NAMED = 3


def on_one_line(text: str) -> str:
    """Text that can pass for no other line of ours."""
    return visible(translated(text)).replace("\n", "<U+000A>").replace("\t", " ")


def note(text: str) -> None:
    """Something that the person should know besides."""
    print(f"tejat: {visible(translated(text))}", file=sys.stderr)


def home_problem() -> str:
    return say("Error: Please use --scope user to edit settings in the home directory.")


def has_changed() -> str:
    return say("Something else in this folder has changed since it was trusted. Look at it with `tejat trust`.")


def say_no_such_server(name: str, known: Collection[str], notes: Sequence[str]) -> None:
    """Tell of a server that nobody knows, and why that may be."""
    for line in notes:
        note(line)
    note(unknown_server(name, known))


def unknown_server(name: str, known: Collection[str]) -> str:
    """What to say of a server that nobody knows."""
    said = say('There is no MCP server "{name}" in the settings.', name=on_one_line(name))
    if not known:
        return f"{said} {say('`tejat mcp add` adds one.')}"
    near = sorted(known, key=lambda other: (distance(name.lower()[:100], other.lower()[:100]), other))
    listed = ", ".join(map(on_one_line, near[:_MOST_NAMED]))
    return f"{said} {say('Known are: {names}.', names=listed)}"


def speaks_unicode(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the terminal is likely to have more than ASCII, as the locale says."""
    given = {name: environment.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG")}
    # Python itself sets this for whatever it starts when it finds no other locale.
    if given["LC_CTYPE"] == "C.UTF-8":
        given["LC_CTYPE"] = ""
    locale = given["LC_ALL"] or given["LC_CTYPE"] or given["LANG"]
    return "utf8" in locale.lower().replace("-", "")
