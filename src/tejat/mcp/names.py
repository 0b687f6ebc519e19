"""Names of MCP tools, independent of the order in which servers connect."""

import re
from collections.abc import Sequence

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.sanitize import sanitize_text
from tejat.core.text.digest import sha256

MAX_ALIAS_LENGTH = 40
MAX_NAME_LENGTH = 63
"""The length that every model service accepts."""
MAX_OWN_NAME_LENGTH = 512
"""The length of a tool's name on its server."""

_SEPARATOR = "__"
_ALIAS_PATTERN = r"[A-Za-z0-9_.-]+"
_INVALID_CHARACTER = r"[^A-Za-z0-9_.-]"
_HEAD_LENGTH = 30
_DIGEST_LENGTH = 10
_TAIL_LENGTH = MAX_NAME_LENGTH - _HEAD_LENGTH - _DIGEST_LENGTH - 2


class NamedTool(Frozen):
    """`name` is the registered name of the tool, `own_name` its name on the server."""

    name: str
    own_name: str


class ToolNaming(Frozen):
    """Named tools of one server, in its order. `problems` says which tools have no name, and why."""

    tools: tuple[NamedTool, ...]
    problems: tuple[str, ...] = ()


def assign_tool_names(alias: str, own_names: Sequence[str]) -> ToolNaming:
    """Assign a name to each tool of a server. Two that would share a name get none: calls would be ambiguous.

    The alias must pass `alias_problem`.
    """
    problems: list[str] = []
    sharing: dict[str, list[str]] = {}
    for own_name in own_names:
        problem = own_name_problem(own_name)
        if problem is None:
            sharing.setdefault(registered_name(alias, own_name), []).append(own_name)
        else:
            problems.append(lazy("Skipped a tool of MCP server {alias}: {why}.", alias=alias, why=problem))
    for name, sharers in sharing.items():
        if len(sharers) > 1:
            listed = ", ".join(sorted(f'"{own_name}"' for own_name in sharers))
            problem = lazy(
                "Skipped tools of MCP server {alias}: {listed} would all be named {name}.",
                alias=alias,
                listed=listed,
                name=name,
            )
            problems.append(problem)
    tools = tuple(NamedTool(name, sharers[0]) for name, sharers in sharing.items() if len(sharers) == 1)
    return ToolNaming(tools, tuple(problems))


def alias_problem(alias: str) -> str | None:
    """Return why a server cannot have this alias and what to do about it, or None.

    These rules ensure that the first `__` of a registered name ends the alias, so no tool can pass for one of another
    server.
    """
    shown = f'"{_escape(alias[: MAX_ALIAS_LENGTH + 1])}"'
    if not alias:
        return lazy("An MCP server has no name. Name it in mcpServers.")
    if len(alias) > MAX_ALIAS_LENGTH:
        return lazy(
            "The MCP server name {shown}... is too long. Use at most {most} characters.",
            shown=shown,
            most=MAX_ALIAS_LENGTH,
        )
    if not re.fullmatch(_ALIAS_PATTERN, alias):
        return lazy("Invalid MCP server name {shown}. Use only letters, digits, '_', '-' and '.'.", shown=shown)
    if _SEPARATOR in alias or alias.startswith("_") or alias.endswith("_"):
        return lazy(
            "Invalid MCP server name {shown}: '__' separates a server from its tool. Remove double "
            "underscores, and underscores at the start and end.",
            shown=shown,
        )
    return None


def own_name_problem(own_name: str) -> str | None:
    """Return why a tool or prompt of this name is not accepted, or None. The text is sanitized."""
    if not own_name.strip():
        return lazy("it has no name")
    if len(own_name) > MAX_OWN_NAME_LENGTH:
        return lazy(
            'its name "{own_name}..." is {size} characters long', own_name=_escape(own_name[:40]), size=len(own_name)
        )
    if not own_name.isprintable() or sanitize_text(own_name) != own_name:
        return lazy('its name "{own_name}" contains invisible characters', own_name=_escape(own_name))
    return None


def registered_name(alias: str, own_name: str) -> str:
    """Return the name of a server's tool: at most 63 accepted characters, starting with a letter or `_`.

    A name that is too long keeps its start and its end, with a digest between them.
    """
    name = f"{_sanitize_name(alias)}{_SEPARATOR}{_sanitize_name(own_name)}"
    name = name if name[0].isalpha() or name[0] == "_" else f"_{name}"
    if not re.search("[A-Za-z0-9]", _sanitize_name(own_name)):
        # Nothing distinctive is left of the name, for example in a non-Latin script.
        name = f"{name[: _HEAD_LENGTH + _TAIL_LENGTH]}_{_digest(alias, own_name)}"
    if len(name) <= MAX_NAME_LENGTH:
        return name
    return f"{name[:_HEAD_LENGTH]}_{_digest(alias, own_name)}_{name[-_TAIL_LENGTH:]}"


def tool_aliases(alias: str, own_name: str) -> tuple[str, ...]:
    """Return other names that users and models use for the tool. Each is valid only while it is unambiguous."""
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
    return lazy("{own_name} ({alias} MCP Server)", own_name=own_name, alias=alias)


def is_tool_enabled(own_name: str, *, include: Sequence[str] | None, exclude: Sequence[str]) -> bool:
    """Return whether the server's settings include a tool. `name(...)` in `include` means `name`; `exclude` wins."""
    if own_name in exclude:
        return False
    return include is None or any(own_name in (entry, entry.partition("(")[0]) for entry in include)


def _escape(text: str) -> str:
    """Return the text on one line, with invisible characters escaped."""
    return "".join(letter if letter.isprintable() else f"<U+{ord(letter):04X}>" for letter in sanitize_text(text))


def _sanitize_name(text: str) -> str:
    return re.sub(_INVALID_CHARACTER, "_", text)


def _digest(alias: str, own_name: str) -> str:
    pair = f"{alias}\0{own_name}".encode("utf-8", "surrogatepass")
    return sha256(pair).hexdigest()[:_DIGEST_LENGTH]
