"""Under which names the tools of servers are known here: the same ones whatever the order in which servers connect."""

import re
from collections.abc import Sequence
from hashlib import sha256

from tejat.core.frozen import frozen
from tejat.core.i18n import gettext_lazy
from tejat.core.sanitize import sanitize_text

MAX_ALIAS_LENGTH = 40
MAX_NAME_LENGTH = 63
"""Characters that every service takes for the name of a function."""
MAX_OWN_NAME_LENGTH = 512
"""Characters of the name that a tool has at its server."""

_SEPARATOR = "__"
_ALIAS_PATTERN = r"[A-Za-z0-9_.-]+"
_INVALID_CHARACTER = r"[^A-Za-z0-9_.-]"
_HEAD_LENGTH = 30
_DIGEST_LENGTH = 10
_TAIL_LENGTH = MAX_NAME_LENGTH - _HEAD_LENGTH - _DIGEST_LENGTH - 2


@frozen
class NamedTool:
    """`name` is what the tool is registered as, `own_name` what its server calls it."""

    name: str
    own_name: str


@frozen
class ToolNaming:
    """The tools of one server that have a name, in the server's order. `problems` tells which have none, and why."""

    tools: tuple[NamedTool, ...]
    problems: tuple[str, ...] = ()


def assign_tool_names(alias: str, own_names: Sequence[str]) -> ToolNaming:
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
            problems.append(gettext_lazy("A tool of MCP server {alias} was left out: {why}.", alias=alias, why=problem))
    for name, sharers in sharing.items():
        if len(sharers) > 1:
            listed = ", ".join(sorted(f'"{own_name}"' for own_name in sharers))
            problems.append(
                gettext_lazy(
                    "Tools of MCP server {alias} were left out: {listed} would all be called {name}.",
                    alias=alias,
                    listed=listed,
                    name=name,
                )
            )
    tools = tuple(NamedTool(name, sharers[0]) for name, sharers in sharing.items() if len(sharers) == 1)
    return ToolNaming(tools, tuple(problems))


def alias_problem(alias: str) -> str | None:
    """Why a server cannot have this alias and what to do about it, or None.

    With these rules the first `__` of a registered name always ends the alias, so no tool can pass for that of another
    server.
    """
    shown = f'"{_escape(alias[: MAX_ALIAS_LENGTH + 1])}"'
    if not alias:
        return gettext_lazy("An MCP server needs a name. Give it one in mcpServers.")
    if len(alias) > MAX_ALIAS_LENGTH:
        return gettext_lazy(
            "The MCP server name {shown}... is too long. Give it one of at most {most} characters.",
            shown=shown,
            most=MAX_ALIAS_LENGTH,
        )
    if not re.fullmatch(_ALIAS_PATTERN, alias):
        return gettext_lazy(
            "The MCP server name {shown} cannot be used. Use only letters, digits, '_', '-' and '.'.", shown=shown
        )
    if _SEPARATOR in alias or alias.startswith("_") or alias.endswith("_"):
        return gettext_lazy(
            "The MCP server name {shown} cannot be used: '__' stands between a server and its tool. Rename it so "
            "that it has no two underscores in a row, and none at its beginning or end.",
            shown=shown,
        )
    return None


def own_name_problem(own_name: str) -> str | None:
    """Why a tool or prompt of this name is not taken, or None. The words are fit to be shown."""
    if not own_name.strip():
        return gettext_lazy("it has no name")
    if len(own_name) > MAX_OWN_NAME_LENGTH:
        return gettext_lazy(
            'its name "{own_name}..." is {size} characters long', own_name=_escape(own_name[:40]), size=len(own_name)
        )
    if not own_name.isprintable() or sanitize_text(own_name) != own_name:
        return gettext_lazy('its name "{own_name}" has characters that nobody can see', own_name=_escape(own_name))
    return None


def registered_name(alias: str, own_name: str) -> str:
    """The name of a server's tool: at most 63 of the characters that services take, beginning with a letter or `_`.

    One that is too long keeps both ends, with a fingerprint of the pair between them.
    """
    name = _with_valid_start(f"{_sanitize_name(alias)}{_SEPARATOR}{_sanitize_name(own_name)}")
    if not re.search("[A-Za-z0-9]", _sanitize_name(own_name)):
        # Nothing of the name is left to tell it from others, as with names in another script than ours.
        name = f"{name[: _HEAD_LENGTH + _TAIL_LENGTH]}_{_digest(alias, own_name)}"
    if len(name) <= MAX_NAME_LENGTH:
        return name
    return f"{name[:_HEAD_LENGTH]}_{_digest(alias, own_name)}_{name[-_TAIL_LENGTH:]}"


def tool_aliases(alias: str, own_name: str) -> tuple[str, ...]:
    """Other names by which people and models know the tool. Each counts only while no other tool has it."""
    spellings = (
        own_name,
        _sanitize_name(own_name),
        f"{alias}{_SEPARATOR}{own_name}",
        f"mcp_{alias}_{own_name}",
        f"mcp__{alias}__{own_name}",
        f"{alias}.{own_name}",
    )
    taken = registered_name(alias, own_name)
    return tuple(dict.fromkeys(name for name in spellings if name != taken))


def display_name(alias: str, own_name: str) -> str:
    return gettext_lazy("{own_name} ({alias} MCP Server)", own_name=own_name, alias=alias)


def is_tool_enabled(own_name: str, *, include: Sequence[str] | None, exclude: Sequence[str]) -> bool:
    """Whether the settings of a server let a tool in. `name(...)` in `include` means `name`; `exclude` wins."""
    if own_name in exclude:
        return False
    return include is None or any(own_name in (entry, entry.partition("(")[0]) for entry in include)


def _escape(text: str) -> str:
    """The text in one line with nothing hidden in it."""
    return "".join(letter if letter.isprintable() else f"<U+{ord(letter):04X}>" for letter in sanitize_text(text))


def _sanitize_name(text: str) -> str:
    return re.sub(_INVALID_CHARACTER, "_", text)


def _with_valid_start(name: str) -> str:
    return name if name[0].isalpha() or name[0] == "_" else f"_{name}"


def _digest(alias: str, own_name: str) -> str:
    pair = f"{alias}\0{own_name}".encode("utf-8", "surrogatepass")
    return sha256(pair).hexdigest()[:_DIGEST_LENGTH]
