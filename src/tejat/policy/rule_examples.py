"""Examples that rules carry: checked when the rules are loaded, so that a rule means what its writer believes."""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from tejat.core.json_text import NotJson, load_json
from tejat.core.tool import Kind
from tejat.core.value import value
from tejat.core.words import joined, phrase
from tejat.policy.call import Call
from tejat.policy.command_matching import is_meant_by
from tejat.policy.coverage import gap_in, shape_of
from tejat.policy.errors import PolicyError
from tejat.policy.parse_line import parse_line
from tejat.policy.patterns import BadPattern
from tejat.policy.places import resolved
from tejat.policy.rules import Decision, Facts, Rule
from tejat.policy.shell_call import ShellCall
from tejat.policy.toml_tables import Table
from tejat.policy.tool_names import SHELL

# Examples are judged in a made-up place: a rule for one project is checked as if this were it.
_ROOT = "/workspace"
_HOME = "/home/user"
_PATH_KEYS = ("path", "file_path", "absolute_path", "dir_path", "directory", "paths")


@value
class Example:
    """A shell line or an object of arguments, as it stands in the file."""

    shown: str
    arguments: Mapping[str, object] | None


def example_of(item: object) -> Example | None:
    """None for what is no example: neither a text nor a table."""
    if isinstance(item, str):
        return Example(item, None)
    if isinstance(item, Mapping):
        arguments = cast("Mapping[str, object]", item)
        return Example(json.dumps(arguments, ensure_ascii=False, default=str), arguments)
    return None


def check_examples(table: Table, rules: Sequence[Rule], *, key: str) -> None:
    """Raises PolicyError for an example of `match` that no rule matches, or one of `not_match` that some rule does."""
    for item in table.items(key):
        example = example_of(item)
        if example is None:
            raise table.problem(phrase("{key}: an example is a shell line or an object of arguments", key=key), key=key)
        try:
            matches = any(_matches(rule, example, table, key) for rule in rules)
        except BadPattern as error:
            raise table.problem(joined("", (key, ": ", str(error))), key=key) from None
        if matches != (key == "match"):
            words = (
                phrase("no example of `match` may be left out by the rule")
                if key == "match"
                else phrase("the rule matches it")
            )
            raise table.problem(joined("", (f"{key}: {example.shown!r}: ", words)), key=key)


def _matches(rule: Rule, example: Example, table: Table, key: str) -> bool:
    """Whether an allowing rule covers the example, or a stricter one is meant for any part of it."""
    facts = _facts(rule, example, table, key)
    if facts.line is None:
        return Call(facts).is_meant_by(rule)
    call = ShellCall(facts, facts.line)
    if not call.is_meant_by(rule):
        return False
    if rule.decision is not Decision.ALLOW:
        return any(is_meant_by(command, rule, call.line) for command in call.line.commands)
    shape = shape_of(call)
    return shape.doubt is None and all(gap_in(rule, command, call, shape) is None for command in call.line.commands)


def _facts(rule: Rule, example: Example, table: Table, key: str) -> Facts:
    roots = (_ROOT,) if rule.project is None else (_ROOT, rule.project)
    tool = SHELL if rule.tool == "*" and rule.command is not None else rule.tool
    server = rule.server
    if tool == SHELL and server is None and example.arguments is None:
        return Facts(
            tool=tool,
            kind=Kind.EXECUTE,
            arguments={"command": example.shown},
            roots=roots,
            home=_HOME,
            line=parse_line(example.shown),
            directory=_ROOT,
            wants_network=rule.network,
        )
    arguments = _arguments(example, table, key)
    command = arguments.get("command")
    is_shell = tool == SHELL and server is None and isinstance(command, str)
    return Facts(
        tool=tool,
        kind=Kind.EXECUTE if is_shell else Kind.OTHER,
        arguments=arguments,
        roots=roots,
        home=_HOME,
        server=server,
        paths=tuple(resolved(path, directory=_ROOT, home=_HOME) for path in _paths(arguments)),
        line=parse_line(command) if is_shell and isinstance(command, str) else None,
        directory=_ROOT,
        wants_network=rule.network,
    )


def _arguments(example: Example, table: Table, key: str) -> Mapping[str, object]:
    if example.arguments is not None:
        return example.arguments
    try:
        value = load_json(example.shown)
    except NotJson as error:
        raise _not_an_object(example, table, key, str(error)) from None
    if not isinstance(value, dict):
        raise _not_an_object(example, table, key, phrase("it is something else"))
    return cast("dict[str, object]", value)


def _not_an_object(example: Example, table: Table, key: str, why: str) -> PolicyError:
    return table.problem(
        phrase("{key}: {shown!r} must be a JSON object of arguments: {why}", key=key, shown=example.shown, why=why),
        key=key,
    )


def _paths(arguments: Mapping[str, object]) -> list[str]:
    paths: list[str] = []
    for key in _PATH_KEYS:
        value = arguments.get(key)
        items = cast("list[object]", value) if isinstance(value, list) else [value]
        paths += [item for item in items if isinstance(item, str)]
    return paths
