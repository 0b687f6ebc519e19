"""Examples in rules, checked on loading so that a rule means what its author thinks."""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from tejat.core.frozen import Frozen
from tejat.core.i18n import join_lazy, lazy
from tejat.core.json_text import InvalidJson, load_json
from tejat.core.messages.declaration import Kind
from tejat.policy.errors import PolicyError
from tejat.policy.evaluation.call import Call
from tejat.policy.evaluation.command_match import command_matches_rule
from tejat.policy.evaluation.coverage import assess_line, find_coverage_gap
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.paths import resolve_path
from tejat.policy.rules.patterns import InvalidPattern
from tejat.policy.rules.toml_tables import TomlTable
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.tool_names import SHELL
from tejat.policy.types import CallFacts, Decision, PolicyRule

# Examples are evaluated in fictitious directories, which also stand for the rule's project.
_ROOT = "/workspace"
_HOME = "/home/user"
_PATH_KEYS = ("path", "file_path", "absolute_path", "dir_path", "directory", "paths")


class RuleExample(Frozen):
    """A shell line or a table of arguments, as written in the file."""

    text: str
    arguments: Mapping[str, object] | None


def parse_example(item: object) -> RuleExample | None:
    """Return the example, None if it is neither a string nor a table."""
    if isinstance(item, str):
        return RuleExample(item, None)
    if isinstance(item, Mapping):
        arguments = cast("Mapping[str, object]", item)
        return RuleExample(json.dumps(arguments, ensure_ascii=False, default=str), arguments)
    return None


def check_examples(table: TomlTable, rules: Sequence[PolicyRule], *, key: str) -> None:
    """Check the examples of a table.

    Raises PolicyError for a `match` example that no rule matches, or a `not_match` example that one does.
    """
    for item in table.items(key):
        example = parse_example(item)
        if example is None:
            message = lazy("{key}: an example must be a shell command or an object of arguments", key=key)
            raise table.error(message, key=key)
        try:
            matches = any(_matches(rule, example, table, key) for rule in rules)
        except InvalidPattern as error:
            raise table.error(join_lazy("", (key, ": ", str(error))), key=key) from None
        if matches != (key == "match"):
            left_out = lazy("the rule does not match it")
            message = lazy("the rule matches it") if matches else left_out
            raise table.error(join_lazy("", (f"{key}: {example.text!r}: ", message)), key=key)


def _matches(rule: PolicyRule, example: RuleExample, table: TomlTable, key: str) -> bool:
    """Return whether an allowing rule covers the example, or a stricter one applies to any part of it."""
    facts = _facts(rule, example, table, key)
    if facts.line is None:
        return Call(facts).matches_rule(rule)
    call = ShellCall(facts, facts.line)
    if not call.matches_rule(rule):
        return False
    if rule.decision is not Decision.ALLOW:
        return any(command_matches_rule(command, rule, call.line) for command in call.line.commands)
    assessment = assess_line(call)
    return assessment.doubt is None and all(
        find_coverage_gap(rule, command, call, assessment) is None for command in call.line.commands
    )


def _facts(rule: PolicyRule, example: RuleExample, table: TomlTable, key: str) -> CallFacts:
    roots = (_ROOT,) if rule.project is None else (_ROOT, rule.project)
    tool = SHELL if rule.tool == "*" and rule.command is not None else rule.tool
    is_shell = tool == SHELL and rule.server is None
    is_line = is_shell and example.arguments is None
    arguments = {"command": example.text} if is_line else _arguments(example, table, key)
    command = arguments.get("command")
    line = parse_command_line(command) if is_shell and isinstance(command, str) else None
    return CallFacts(
        tool=tool,
        kind=Kind.OTHER if line is None else Kind.EXECUTE,
        arguments=arguments,
        roots=roots,
        home=_HOME,
        server=rule.server,
        paths=tuple(resolve_path(path, directory=_ROOT, home=_HOME) for path in _paths(arguments)),
        line=line,
        directory=_ROOT,
        wants_network=rule.allows_network,
        hints=dict(rule.hints or ()),
    )


def _arguments(example: RuleExample, table: TomlTable, key: str) -> Mapping[str, object]:
    if example.arguments is not None:
        return example.arguments
    try:
        value = load_json(example.text)
    except InvalidJson as error:
        raise _not_an_object(example, table, key, str(error)) from None
    if not isinstance(value, dict):
        raise _not_an_object(example, table, key, lazy("not an object"))
    return cast("dict[str, object]", value)


def _not_an_object(example: RuleExample, table: TomlTable, key: str, why: str) -> PolicyError:
    return table.error(
        lazy("{key}: {shown!r} must be a JSON object of arguments: {why}", key=key, shown=example.text, why=why),
        key=key,
    )


def _paths(arguments: Mapping[str, object]) -> list[str]:
    paths: list[str] = []
    for key in _PATH_KEYS:
        value = arguments.get(key)
        items = cast("list[object]", value) if isinstance(value, list) else [value]
        paths += [item for item in items if isinstance(item, str)]
    return paths
