"""Rule files in TOML."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from tejat.core.approval.modes import ApprovalMode
from tejat.core.i18n import lazy
from tejat.policy.rules.conditions import (
    ARGUMENTS,
    COMMAND,
    COMMAND_REGEX,
    HINTS,
    SKILL,
    SUBAGENT,
    Condition,
    parse_condition,
)
from tejat.policy.rules.lazy_rules import LazyRules
from tejat.policy.rules.toml_tables import TomlTable, parse_tables
from tejat.policy.shell.words import word_set
from tejat.policy.tool_names import CANONICAL_NAMES, SHELL, TOOL_ALIASES, parse_tool_name
from tejat.policy.types import Decision, PolicyRule, Tier

_TOOL = ("tool", "toolName")
_SERVER = ("server", "mcpName")
_MESSAGE = ("message", "denyMessage", "deny_message")
_REDIRECTION = ("allowRedirection", "allow_redirection")
CONDITION_KEYS = frozenset((*_TOOL, *_SERVER, *COMMAND, COMMAND_REGEX, *ARGUMENTS, HINTS))
"""The keys that rules and safety checkers have in common."""
_KEYS = (
    CONDITION_KEYS
    | {*_MESSAGE, *_REDIRECTION, SUBAGENT, SKILL}
    | word_set("path project decision priority modes network interactive match not_match")
    | word_set("name description comment")  # for people
)
_MISTAKEN_KEYS = {"action": "decision"}
"""Keys that a document of Gemini CLI shows by mistake."""
_DECISIONS: Mapping[str, Decision] = {**{decision.value: decision for decision in Decision}, "ask_user": Decision.ASK}
_MODES: Mapping[str, ApprovalMode] = {**{mode.value: mode for mode in ApprovalMode}, "autoEdit": ApprovalMode.AUTO_EDIT}
_MAX_PRIORITY = 999
_MANY_TABLES = 100
"""In a smaller file the parser of TOML takes no time to speak of."""
_WITHOUT_PATHS = word_set(
    "google_web_search list_background_processes read_background_output stop_background_process web_fetch"
)


def parse_rules(text: str, *, source: str, tier: Tier, names: Mapping[str, str] = CANONICAL_NAMES) -> list[PolicyRule]:
    """Parse the rules of a TOML text. `names` are aliases of tools. Raises PolicyError.

    A table with several tools or commands stands for one rule each. The examples of each table are checked.
    """
    many = _read_large_file(text, source, tier, names)
    if many is not None:
        return list(many)
    tables = parse_tables(text, "rule", file=source, beside=("safety_checker",))
    rules = [rule for table in tables for rule in _parse_rule_table(table, tier, names)]
    if "safety_checker" in text:
        from tejat.policy.rules.safety_checkers import parse_safety_checkers

        rules += parse_safety_checkers(text, source=source, tier=tier, names=names)
    return rules


@lru_cache(maxsize=256)
def parse_rules_once(text: str, source: str, tier: Tier) -> Sequence[PolicyRule]:
    """The rules of a text that is parsed more than once in a run. Raises PolicyError. Many are a `LazyRules`."""
    many = _read_large_file(text, source, tier, CANONICAL_NAMES)
    return tuple(parse_rules(text, source=source, tier=tier)) if many is None else many


def _read_large_file(text: str, source: str, tier: Tier, names: Mapping[str, str]) -> LazyRules | None:
    """Read a file of many simple rules, None for any other."""
    if text.count("[[rule]]") < _MANY_TABLES:
        return None
    from tejat.policy.rules.large_file import read_large_file

    def parse(values: Mapping[str, object], line: int) -> Sequence[PolicyRule]:
        return _parse_rule_table(TomlTable(values, file=source, line=line, key_lines={}), tier, names)

    return read_large_file(text, file=source, parse=parse)


def _parse_rule_table(table: TomlTable, tier: Tier, names: Mapping[str, str]) -> list[PolicyRule]:
    table.validate_keys(_KEYS, meant=_MISTAKEN_KEYS)
    rules = build_rules(table, tier, names, _parse_decision(table))
    if table.key("match") or table.key("not_match"):
        from tejat.policy.rules.examples import check_examples

        for key in ("match", "not_match"):
            check_examples(table, rules, key=key)
    return rules


def build_rules(
    table: TomlTable,
    tier: Tier,
    names: Mapping[str, str],
    decision: Decision,
    *,
    note: str | None = None,
    name: str | None = None,
) -> list[PolicyRule]:
    """Build the rules of a table whose keys were checked. `name` replaces the name in it. Raises PolicyError."""
    condition = parse_condition(table, decision)
    tools = _parse_tools(table, names, condition)
    rules = [
        PolicyRule(
            decision=condition.decision,
            tier=tier,
            source=f"{table.file}:{table.line}",
            tool=tool,
            server=server,
            command=command,
            command_pattern=command_pattern,
            arguments=condition.arguments,
            path=condition.path,
            hints=condition.hints,
            project=_parse_project(table),
            modes=_parse_modes(table),
            interactive=table.boolean("interactive") if table.key("interactive") else None,
            allows_redirection=table.boolean(*_REDIRECTION),
            allows_network=table.boolean("network"),
            message=table.string(*_MESSAGE),
            priority=table.integer("priority", maximum=_MAX_PRIORITY),
            note=note or condition.note,
            passed_over=condition.passed_over or _wildcard_problem(tool, decision),
            subagent=condition.subagent,
            skill=condition.skill,
            name=name or table.string("name") or None,
            description=table.string("description") or None,
        )
        for tool, server in tools
        for command, command_pattern in condition.commands
    ]
    for rule in rules:
        _check_reachable(table, rule)
    return rules


def _parse_decision(table: TomlTable) -> Decision:
    text = table.string("decision")
    if text is None:
        raise table.error(lazy("decision is missing: set it to allow, ask or deny"))
    decision = _DECISIONS.get(text)
    if decision is None:
        raise table.error(lazy("decision must be allow, ask or deny, not {text!r}", text=text), key="decision")
    return decision


def _parse_tools(table: TomlTable, names: Mapping[str, str], condition: Condition) -> list[tuple[str, str | None]]:
    """Return the tools, each with its server if it is one of an MCP server."""
    given = table.strings(*_TOOL) or ((SHELL,) if condition.names_command else ("*",))
    server = table.string(*_SERVER)
    if server == "":
        raise table.error(lazy("server must be a name, or * for all servers"), key=table.key(*_SERVER))
    # Aliases are of built-in tools: a server's tool of that name is another one.
    tools = [parse_tool_name(names.get(name, name)) if server is None else (name, server) for name in given]
    key = table.key(*_TOOL)
    for tool, _ in tools:
        # Gemini CLI loads such a name, which then matches nothing; here it stands for more tools, if it denies or asks.
        if not tool or ("*" in tool and tool != "*" and key != "toolName"):
            message = lazy("invalid tool {tool!r}: use a full tool name, or * for all tools", tool=tool)
            raise table.error(message, key=key)
    return tools


def _wildcard_problem(tool: str, decision: Decision) -> str | None:
    if decision is not Decision.ALLOW or tool == "*" or "*" not in tool:
        return None
    return lazy("cannot allow the tool {tool!r}: use a full tool name, or * for all tools", tool=tool)


def _check_reachable(table: TomlTable, rule: PolicyRule) -> None:
    """Raise PolicyError for a rule that can never match."""
    is_other_tool = rule.server is not None or (rule.tool in TOOL_ALIASES and rule.tool != SHELL)
    names_command = rule.command is not None or rule.command_pattern is not None
    if (names_command or rule.skill is not None) and is_other_tool:
        tool = rule.tool if rule.server is None else f"{rule.server}__{rule.tool}"
        label = "command" if names_command else SKILL
        message = lazy("{key} works only with {shell}, not with {tool}", key=label, shell=SHELL, tool=tool)
        raise table.error(message, key=table.key(*COMMAND, COMMAND_REGEX, SKILL))
    if rule.path is not None and (rule.server is not None or rule.tool in _WITHOUT_PATHS):
        raise table.error(lazy("path can never match: {tool} has no path argument", tool=rule.tool), key="path")
    if rule.path is not None and {".", ".."} & set(rule.path.removeprefix("./").split("/")):
        message = lazy("path can never match: remove . and .. from it")
        raise table.error(message, key="path")
    if rule.arguments is not None and '": "' in rule.arguments:
        key = table.key(*ARGUMENTS)
        message = lazy("{key} can never match: the JSON of the arguments has no space after a colon", key=key)
        raise table.error(message, key=key)


def _parse_project(table: TomlTable) -> str | None:
    project = table.string("project")
    if project is not None and not project.startswith("/"):
        raise table.error(lazy("project must be an absolute path"), key="project")
    return project


def _parse_modes(table: TomlTable) -> frozenset[ApprovalMode] | None:
    given = None if table.value("modes") == [] else table.strings("modes")
    if given is None:
        return None
    unknown = next((name for name in given if name not in _MODES), None)
    if unknown is not None:
        names = ", ".join(mode.value for mode in ApprovalMode)
        message = lazy("unknown mode {unknown!r}; use one of {names}", unknown=unknown, names=names)
        raise table.error(message, key="modes")
    return frozenset(_MODES[name] for name in given)
