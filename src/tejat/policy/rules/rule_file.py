"""Rule files in TOML."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from tejat.core.approval.modes import ApprovalMode
from tejat.core.i18n import join_lazy, lazy
from tejat.policy.rules.command_prefix import InvalidPrefix, parse_prefix
from tejat.policy.rules.patterns import InvalidPattern, validate_glob, validate_regex
from tejat.policy.rules.toml_tables import TomlTable, parse_tables
from tejat.policy.shell.words import word_set
from tejat.policy.tool_names import CANONICAL_NAMES, SHELL, TOOL_ALIASES, parse_tool_name
from tejat.policy.types import Decision, PolicyRule, Tier

_TOOL = ("tool", "toolName")
_SERVER = ("server", "mcpName")
_COMMAND = ("command", "commandPrefix")
_ARGUMENTS = ("arguments", "argsPattern")
_MESSAGE = ("message", "denyMessage")
_KEYS = frozenset((*_TOOL, *_SERVER, *_COMMAND, *_ARGUMENTS, *_MESSAGE)) | word_set(
    "path project decision priority modes allowRedirection network interactive match not_match commandRegex"
)
_DECISIONS: Mapping[str, Decision] = {**{decision.value: decision for decision in Decision}, "ask_user": Decision.ASK}
_MODES: Mapping[str, ApprovalMode] = {**{mode.value: mode for mode in ApprovalMode}, "autoEdit": ApprovalMode.AUTO_EDIT}
_MAX_PRIORITY = 999
_WITHOUT_PATHS = word_set(
    "google_web_search list_background_processes read_background_output stop_background_process web_fetch"
)


def parse_rules(text: str, *, source: str, tier: Tier, names: Mapping[str, str] = CANONICAL_NAMES) -> list[PolicyRule]:
    """Parse the rules of a TOML text. `names` are aliases of tools. Raises PolicyError.

    A table with several tools or commands stands for one rule each. The examples of each table are checked.
    """
    return [rule for table in parse_tables(text, "rule", file=source) for rule in _parse_rule_table(table, tier, names)]


def _parse_rule_table(table: TomlTable, tier: Tier, names: Mapping[str, str]) -> list[PolicyRule]:
    table.validate_keys(_KEYS)
    if table.key("commandRegex"):
        message = lazy(
            "commandRegex is not supported: a shell line is judged word by word, name its first words in command"
        )
        raise table.error(message, key="commandRegex")
    decision = _parse_decision(table)
    commands = _parse_commands(table)
    redirection, network = table.boolean("allowRedirection"), table.boolean("network")
    rules = [
        PolicyRule(
            decision=decision,
            tier=tier,
            source=f"{table.file}:{table.line}",
            tool=tool,
            server=server,
            command=command,
            arguments=_parse_pattern(table, _ARGUMENTS, validate_regex),
            path=_parse_pattern(table, ("path",), validate_glob),
            project=_parse_project(table),
            modes=_parse_modes(table),
            allows_redirection=redirection,
            allows_network=network,
            message=table.string(*_MESSAGE),
            priority=table.integer("priority", maximum=_MAX_PRIORITY),
        )
        for tool, server in _parse_tools(table, names, has_command=commands is not None)
        for command in (commands or (None,))
    ]
    for rule in rules:
        _check_reachable(table, rule)
    if table.key("match") or table.key("not_match"):
        from tejat.policy.rules.examples import check_examples

        for key in ("match", "not_match"):
            check_examples(table, rules, key=key)
    return rules


def _parse_decision(table: TomlTable) -> Decision:
    text = table.string("decision")
    if text is None:
        raise table.error(lazy("decision is missing: allow, ask or deny"))
    decision = _DECISIONS.get(text)
    if decision is None:
        raise table.error(lazy("decision must be allow, ask or deny, not {text!r}", text=text), key="decision")
    if decision is Decision.ALLOW and table.key("interactive"):
        # Ignoring the key would make the rule allow more than written; a stricter rule may apply more often.
        raise table.error(
            lazy("interactive cannot limit a rule that allows: what asks is refused without a person anyway")
        )
    table.boolean("interactive")
    return decision


def _parse_tools(table: TomlTable, names: Mapping[str, str], *, has_command: bool) -> list[tuple[str, str | None]]:
    """Return the tools, each with its server if it is one of an MCP server."""
    given = table.strings(*_TOOL) or ((SHELL,) if has_command else ("*",))
    server = table.string(*_SERVER)
    if server == "":
        raise table.error(lazy("a server has a name, or * for all of them"), key=table.key(*_SERVER))
    # Aliases are of built-in tools: a server's tool of that name is another one.
    tools = [parse_tool_name(names.get(name, name)) if server is None else (name, server) for name in given]
    for tool, _ in tools:
        if not tool or ("*" in tool and tool != "*"):
            message = lazy("the tool {tool!r} cannot be: a tool is named in full, or * stands for all", tool=tool)
            raise table.error(message, key=table.key(*_TOOL))
    return tools


def _check_reachable(table: TomlTable, rule: PolicyRule) -> None:
    """Raise PolicyError for a rule that can never match."""
    is_other_tool = rule.server is not None or (rule.tool in TOOL_ALIASES and rule.tool != SHELL)
    if rule.command is not None and is_other_tool:
        message = lazy("command is for {shell}, not for {tool}", shell=SHELL, tool=rule.tool)
        raise table.error(message, key=table.key(*_COMMAND))
    if rule.path is not None and (rule.server is not None or rule.tool in _WITHOUT_PATHS):
        raise table.error(lazy("path can never match: {tool} names no path", tool=rule.tool), key="path")
    if rule.path is not None and {".", ".."} & set(rule.path.removeprefix("./").split("/")):
        message = lazy("path can never match: write it without . and .., from a root or absolute")
        raise table.error(message, key="path")
    if rule.arguments is not None and '": "' in rule.arguments:
        key = table.key(*_ARGUMENTS)
        message = lazy("{key} can never match: the JSON of the arguments has no blank after a colon", key=key)
        raise table.error(message, key=key)


def _parse_commands(table: TomlTable) -> tuple[tuple[str, ...], ...] | None:
    """Return the prefixes: a string is split into words, a list has several, a nested list is one in words."""
    value = table.value(*_COMMAND)
    if value is None:
        return None
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    try:
        prefixes = tuple(_parse_prefix(item) for item in items)
    except InvalidPrefix as error:
        raise table.error(str(error), key=table.key(*_COMMAND)) from None
    if not prefixes or not all(prefixes):
        message = lazy("command must be a string, or a list of them, that names at least a program")
        raise table.error(message, key=table.key(*_COMMAND))
    return tuple(prefix for prefix in prefixes if prefix)


def _parse_prefix(item: object) -> tuple[str, ...] | None:
    if isinstance(item, str):
        return parse_prefix(item) or None
    if not isinstance(item, list):
        return None
    words = cast("list[object]", item)
    if not words or not words[0] or not all(isinstance(word, str) for word in words):
        return None
    return tuple(cast("list[str]", words))


def _parse_pattern(table: TomlTable, spellings: Sequence[str], validate: Callable[[str], None]) -> str | None:
    pattern = table.string(*spellings)
    if pattern is not None:
        try:
            validate(pattern)
        except InvalidPattern as error:
            key = table.key(*spellings)
            raise table.error(join_lazy("", (f"{key}: ", str(error))), key=key) from None
    return pattern


def _parse_project(table: TomlTable) -> str | None:
    project = table.string("project")
    if project is not None and not project.startswith("/"):
        raise table.error(lazy("project must be an absolute path"), key="project")
    return project


def _parse_modes(table: TomlTable) -> frozenset[ApprovalMode] | None:
    given = table.strings("modes")
    if given is None:
        return None
    unknown = next((name for name in given if name not in _MODES), None)
    if unknown is not None:
        names = ", ".join(mode.value for mode in ApprovalMode)
        message = lazy("there is no mode {unknown!r}, only {names}", unknown=unknown, names=names)
        raise table.error(message, key="modes")
    return frozenset(_MODES[name] for name in given)
