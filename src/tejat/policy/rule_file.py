"""Rules as people write them, in TOML."""

from collections.abc import Mapping
from typing import cast

from tejat.core.words import joined, phrase
from tejat.policy.patterns import BadPattern, check_expression, check_glob
from tejat.policy.rules import Decision, Mode, Rule, Tier
from tejat.policy.toml_tables import Table, tables_in
from tejat.policy.tool_names import CANONICAL_NAMES, OTHER_NAMES, SHELL

_TOOL = ("tool", "toolName")
_SERVER = ("server", "mcpName")
_COMMAND = ("command", "commandPrefix")
_ARGUMENTS = ("arguments", "argsPattern")
_MESSAGE = ("message", "denyMessage")
_KEYS = frozenset((*_TOOL, *_SERVER, *_COMMAND, *_ARGUMENTS, *_MESSAGE)) | frozenset(
    (
        *("path", "project", "decision", "priority", "modes", "allowRedirection", "network"),
        *("interactive", "match", "not_match", "commandRegex"),
    )
)
_DECISIONS: Mapping[str, Decision] = {
    "allow": Decision.ALLOW,
    "ask": Decision.ASK,
    "ask_user": Decision.ASK,
    "deny": Decision.DENY,
}
_MODES: Mapping[str, Mode] = {**{mode.value: mode for mode in Mode}, "autoEdit": Mode.AUTO_EDIT}
_HIGHEST_PRIORITY = 999


def rules_in(text: str, *, source: str, tier: Tier, names: Mapping[str, str] = CANONICAL_NAMES) -> list[Rule]:
    """The rules of a TOML text. `names` are other names of tools. Raises PolicyError for whatever is wrong in it.

    A table that names several tools or several commands stands for that many rules. The examples that a table carries
    are checked.
    """
    return [rule for table in tables_in(text, "rule", file=source) for rule in _rules_of(table, tier, names)]


def _rules_of(table: Table, tier: Tier, names: Mapping[str, str]) -> list[Rule]:
    table.check_keys(_KEYS)
    if table.key("commandRegex"):
        words = phrase(
            "commandRegex is not supported: a shell line is judged word by word, name its first words in command"
        )
        raise table.problem(words, key="commandRegex")
    decision = _decision(table)
    commands = _commands(table)
    server = table.string(*_SERVER)
    if server == "":
        raise table.problem(phrase("a server has a name, or * for all of them"), key=table.key(*_SERVER))
    redirection, network = table.switch("allowRedirection"), table.switch("network")
    rules = [
        Rule(
            decision=decision,
            tier=tier,
            source=f"{table.file}:{table.line}",
            tool=tool,
            server=server,
            command=command,
            arguments=_expression(table),
            path=_glob(table),
            project=_project(table),
            modes=_modes(table),
            redirection=redirection,
            network=network,
            message=table.string(*_MESSAGE),
            priority=table.whole_number("priority", most=_HIGHEST_PRIORITY),
        )
        for tool in _tools(table, names, has_command=commands is not None)
        for command in (commands or (None,))
    ]
    if table.key("match") or table.key("not_match"):
        from tejat.policy.rule_examples import check_examples

        for key in ("match", "not_match"):
            check_examples(table, rules, key=key)
    return rules


def _decision(table: Table) -> Decision:
    text = table.string("decision")
    if text is None:
        raise table.problem(phrase("decision is missing: allow, ask or deny"))
    decision = _DECISIONS.get(text)
    if decision is None:
        raise table.problem(phrase("decision must be allow, ask or deny, not {text!r}", text=text), key="decision")
    if decision is Decision.ALLOW and table.key("interactive"):
        # To leave it out would make the rule allow more than was written; a stricter rule may hold more often.
        raise table.problem(
            phrase("interactive cannot limit a rule that allows: what asks is refused without a person anyway")
        )
    table.switch("interactive")
    return decision


def _tools(table: Table, names: Mapping[str, str], *, has_command: bool) -> list[str]:
    given = table.strings(*_TOOL) or ((SHELL,) if has_command else ("*",))
    # Other names are those of our own tools: a server may have a tool of such a name that is something else.
    is_own = table.key(*_SERVER) is None
    tools = [names.get(name, name) if is_own else name for name in given]
    for tool in tools:
        if not tool or ("*" in tool and tool != "*"):
            words = phrase("the tool {tool!r} cannot be: a tool is named in full, or * stands for all", tool=tool)
            raise table.problem(words, key=table.key(*_TOOL))
        if has_command and is_own and tool in OTHER_NAMES and tool != SHELL:
            raise table.problem(
                phrase("command is for {shell}, not for {tool}", shell=SHELL, tool=tool), key=table.key(*_COMMAND)
            )
    return tools


def _commands(table: Table) -> tuple[tuple[str, ...], ...] | None:
    """The prefixes: a string is split at its blanks, a list holds several, a list in the list is one word by word."""
    value = table.value(*_COMMAND)
    if value is None:
        return None
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    prefixes = tuple(_prefix(item) for item in items)
    if not prefixes or not all(prefixes):
        words = phrase("command must be a string, or a list of them, that names at least a program")
        raise table.problem(words, key=table.key(*_COMMAND))
    return tuple(prefix for prefix in prefixes if prefix)


def _prefix(item: object) -> tuple[str, ...] | None:
    if isinstance(item, str):
        return tuple(item.split()) or None
    if not isinstance(item, list):
        return None
    words = cast("list[object]", item)
    if not words or not words[0] or not all(isinstance(word, str) for word in words):
        return None
    return tuple(cast("list[str]", words))


def _expression(table: Table) -> str | None:
    expression = table.string(*_ARGUMENTS)
    if expression is not None:
        try:
            check_expression(expression)
        except BadPattern as error:
            raise table.problem(
                joined("", (f"{table.key(*_ARGUMENTS)}: ", str(error))), key=table.key(*_ARGUMENTS)
            ) from None
    return expression


def _glob(table: Table) -> str | None:
    glob = table.string("path")
    if glob is not None:
        try:
            check_glob(glob)
        except BadPattern as error:
            raise table.problem(joined("", ("path: ", str(error))), key="path") from None
    return glob


def _project(table: Table) -> str | None:
    project = table.string("project")
    if project is not None and not project.startswith("/"):
        raise table.problem(phrase("project must be an absolute path"), key="project")
    return project


def _modes(table: Table) -> frozenset[Mode] | None:
    given = table.strings("modes")
    if given is None:
        return None
    unknown = next((name for name in given if name not in _MODES), None)
    if unknown is not None:
        words = phrase(
            "there is no mode {unknown!r}, only {names}", unknown=unknown, names=", ".join(mode.value for mode in Mode)
        )
        raise table.problem(words, key="modes")
    return frozenset(_MODES[name] for name in given)
