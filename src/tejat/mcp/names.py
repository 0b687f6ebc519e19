"""Under which names the tools of servers are known here: the same ones whatever the order in which servers connect."""

import re
from collections.abc import Sequence
from hashlib import sha256

from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import phrase

LONGEST_ALIAS = 40
LONGEST_NAME = 63
"""Characters that every service takes for the name of a function."""
LONGEST_OWN_NAME = 512
"""Characters of the name that a tool has at its server."""

_BETWEEN = "__"
_ALIAS = r"[A-Za-z0-9_.-]+"
_FOREIGN = r"[^A-Za-z0-9_.-]"
_HEAD = 30
_FINGERPRINT = 10
_TAIL = LONGEST_NAME - _HEAD - _FINGERPRINT - 2


@value
class NamedTool:
    """`name` is what the tool is registered as, `own_name` what its server calls it."""

    name: str
    own_name: str


@value
class Naming:
    """The tools of one server that have a name, in the server's order. `problems` tells which have none, and why."""

    tools: tuple[NamedTool, ...]
    problems: tuple[str, ...] = ()


def name_tools(alias: str, own_names: Sequence[str]) -> Naming:
    """A name for each tool of a server. Two that would share one get none: which of them was meant nobody could tell.

    The alias is one that `alias_problem` has nothing against.
    """
    problems: list[str] = []
    sharing: dict[str, list[str]] = {}
    for own_name in own_names:
        problem = own_name_problem(own_name)
        if problem is None:
            sharing.setdefault(registered_name(alias, own_name), []).append(own_name)
        else:
            problems.append(phrase("A tool of MCP server {alias} was left out: {why}.", alias=alias, why=problem))
    for name, sharers in sharing.items():
        if len(sharers) > 1:
            listed = ", ".join(sorted(f'"{own_name}"' for own_name in sharers))
            problems.append(
                phrase(
                    "Tools of MCP server {alias} were left out: {listed} would all be called {name}.",
                    alias=alias,
                    listed=listed,
                    name=name,
                )
            )
    tools = tuple(NamedTool(name, sharers[0]) for name, sharers in sharing.items() if len(sharers) == 1)
    return Naming(tools, tuple(problems))


def alias_problem(alias: str) -> str | None:
    """Why a server cannot have this alias and what to do about it, or None.

    With these rules the first `__` of a registered name always ends the alias, so no tool can pass for that of another
    server.
    """
    shown = f'"{_shown(alias[: LONGEST_ALIAS + 1])}"'
    if not alias:
        return phrase("An MCP server needs a name. Give it one in mcpServers.")
    if len(alias) > LONGEST_ALIAS:
        return phrase(
            "The MCP server name {shown}... is too long. Give it one of at most {most} characters.",
            shown=shown,
            most=LONGEST_ALIAS,
        )
    if not re.fullmatch(_ALIAS, alias):
        return phrase(
            "The MCP server name {shown} cannot be used. Use only letters, digits, '_', '-' and '.'.", shown=shown
        )
    if _BETWEEN in alias or alias.startswith("_") or alias.endswith("_"):
        return phrase(
            "The MCP server name {shown} cannot be used: '__' stands between a server and its tool. Rename it so "
            "that it has no two underscores in a row, and none at its beginning or end.",
            shown=shown,
        )
    return None


def own_name_problem(own_name: str) -> str | None:
    """Why a tool or prompt of this name is not taken, or None. The words are fit to be shown."""
    if not own_name.strip():
        return phrase("it has no name")
    if len(own_name) > LONGEST_OWN_NAME:
        return phrase(
            'its name "{own_name}..." is {size} characters long', own_name=_shown(own_name[:40]), size=len(own_name)
        )
    if not own_name.isprintable() or visible(own_name) != own_name:
        return phrase('its name "{own_name}" has characters that nobody can see', own_name=_shown(own_name))
    return None


def registered_name(alias: str, own_name: str) -> str:
    """The name of a server's tool: at most 63 of the characters that services take, beginning with a letter or `_`.

    One that is too long keeps both ends, with a fingerprint of the pair between them.
    """
    name = _begun(f"{_clean(alias)}{_BETWEEN}{_clean(own_name)}")
    if not re.search("[A-Za-z0-9]", _clean(own_name)):
        # Nothing of the name is left to tell it from others, as with names in another script than ours.
        name = f"{name[: _HEAD + _TAIL]}_{_fingerprint(alias, own_name)}"
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:_HEAD]}_{_fingerprint(alias, own_name)}_{name[-_TAIL:]}"


def other_names(alias: str, own_name: str) -> tuple[str, ...]:
    """Other names by which people and models know the tool. Each counts only while no other tool has it."""
    spellings = (
        own_name,
        _clean(own_name),
        f"{alias}{_BETWEEN}{own_name}",
        f"mcp_{alias}_{own_name}",
        f"mcp__{alias}__{own_name}",
        f"{alias}.{own_name}",
    )
    taken = registered_name(alias, own_name)
    return tuple(dict.fromkeys(name for name in spellings if name != taken))


def display_name(alias: str, own_name: str) -> str:
    return phrase("{own_name} ({alias} MCP Server)", own_name=own_name, alias=alias)


def is_wanted(own_name: str, *, include: Sequence[str] | None, exclude: Sequence[str]) -> bool:
    """Whether the settings of a server let a tool in. `name(...)` in `include` means `name`; `exclude` wins."""
    if own_name in exclude:
        return False
    return include is None or any(own_name in (entry, entry.partition("(")[0]) for entry in include)


def _shown(text: str) -> str:
    """The text in one line with nothing hidden in it."""
    return "".join(letter if letter.isprintable() else f"<U+{ord(letter):04X}>" for letter in visible(text))


def _clean(text: str) -> str:
    return re.sub(_FOREIGN, "_", text)


def _begun(name: str) -> str:
    return name if name[0].isalpha() or name[0] == "_" else f"_{name}"


def _fingerprint(alias: str, own_name: str) -> str:
    pair = f"{alias}\0{own_name}".encode("utf-8", "surrogatepass")
    return sha256(pair).hexdigest()[:_FINGERPRINT]
