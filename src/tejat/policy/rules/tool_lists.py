"""Tool lists of settings and flags, converted to rules."""

import re
from collections.abc import Iterator, Sequence

from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.policy.errors import PolicyError
from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.rules.command_prefix import InvalidPrefix, parse_prefix
from tejat.policy.tool_names import CANONICAL_NAMES, SHELL, TOOL_ALIASES, parse_tool_name
from tejat.policy.types import Decision, PolicyRule, Tier

_ENTRY = re.compile(r"\s*(?P<name>[^\s(),]+)\s*(?:\((?P<prefix>.*)\))?\s*", re.DOTALL)


class ToolLists(Frozen):
    """The tool lists of the settings, None if not set.

    `core` are the enabled built-in tools, `exclude` the disabled tools, `allowed` those that need no approval, and
    `confirmed` those that always need one.
    """

    core: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    allowed: tuple[str, ...] | None = None
    confirmed: tuple[str, ...] | None = None
    mcp_allowed: tuple[str, ...] | None = None
    mcp_excluded: tuple[str, ...] | None = None


def rules_from_settings(settings: ToolLists, *, tier: Tier, source: str) -> list[PolicyRule]:
    """Return the rules for the lists. Raises PolicyError for an invalid entry.

    `core` and `mcp_allowed` restrict what is available: they deny the rest and allow nothing.
    """
    return [
        *_core_rules(settings.core, tier=tier, source=f"{source} (tools.core)"),
        *_rules(settings.exclude or (), Decision.DENY, tier=tier, source=f"{source} (tools.exclude)"),
        *_rules(settings.allowed or (), Decision.ALLOW, tier=tier, source=f"{source} (tools.allowed)"),
        *_rules(settings.confirmed or (), Decision.ASK, tier=tier, source=f"{source} (tools.confirmationRequired)"),
        *_server_rules(settings, tier=tier, source=source),
    ]


def rules_from_allowed_tools(patterns: Sequence[str], *, source: str = "--allowed-tools") -> list[PolicyRule]:
    """Return the rules for a flag: `read_file`, `EditTool`, `run_shell_command(git log)`, separated by commas.

    Raises UsageError for an invalid entry.
    """
    try:
        entries = [entry for pattern in patterns for entry in _split(pattern, source) if entry.strip()]
        return list(_rules(entries, Decision.ALLOW, tier=Tier.USER, source=source))
    except PolicyError as error:
        raise UsageError(str(error)) from None


def _core_rules(core: Sequence[str] | None, *, tier: Tier, source: str) -> Iterator[PolicyRule]:
    if core is None:
        return
    entries = [_parse_entry(entry, source) for entry in core]
    used = {entry.tool for entry in entries if entry.server is None}
    yield from (PolicyRule(Decision.DENY, tier, source, tool) for tool in TOOL_ALIASES if tool not in used)
    shell = [entry.command for entry in entries if entry.server is None and entry.tool == SHELL]
    commands = tuple(command for command in shell if command is not None)
    if commands and len(commands) == len(shell):
        yield AllowlistRule(Decision.DENY, tier, source, SHELL, commands=commands)


def _server_rules(settings: ToolLists, *, tier: Tier, source: str) -> Iterator[PolicyRule]:
    for server in settings.mcp_excluded or ():
        yield PolicyRule(Decision.DENY, tier, f"{source} (mcp.excluded)", server=server)
    if settings.mcp_allowed is not None:
        servers = frozenset(settings.mcp_allowed)
        yield AllowlistRule(Decision.DENY, tier, f"{source} (mcp.allowed)", server="*", servers=servers)


def _rules(entries: Sequence[str], decision: Decision, *, tier: Tier, source: str) -> Iterator[PolicyRule]:
    for entry in entries:
        read = _parse_entry(entry, source)
        yield PolicyRule(decision, tier, source, read.tool, read.server, read.command)


class _Entry(Frozen):
    tool: str
    server: str | None
    command: tuple[str, ...] | None


def _parse_entry(entry: str, source: str) -> _Entry:
    found = _ENTRY.fullmatch(entry)
    if found is None:
        message = lazy("{entry!r} is neither a tool name nor of the form run_shell_command(git log)", entry=entry)
        raise PolicyError(source, None, message)
    name = CANONICAL_NAMES.get(found["name"], found["name"])
    prefix = found["prefix"]
    if prefix is None:
        tool, server = parse_tool_name(name)
        return _Entry(tool, server, None)
    if name != SHELL:
        message = lazy("{entry!r}: only {shell} takes a command in parentheses", entry=entry, shell=SHELL)
        raise PolicyError(source, None, message)
    try:
        tokens = parse_prefix(prefix)
    except InvalidPrefix as error:
        raise PolicyError(source, None, str(error)) from None
    if not tokens:
        message = lazy("{entry!r} has no command: use {shell} for all commands", entry=entry, shell=SHELL)
        raise PolicyError(source, None, message)
    return _Entry(SHELL, None, tokens)


def _split(pattern: str, source: str) -> Iterator[str]:
    """Split a list at commas outside parentheses."""
    depth = start = 0
    for at, character in enumerate(pattern):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            break
        if character == "," and depth == 0:
            yield pattern[start:at]
            start = at + 1
    if depth:
        raise PolicyError(source, None, lazy("{pattern!r}: the parentheses do not match", pattern=pattern))
    yield pattern[start:]
