"""Formatting of rules: as one line for display, and as TOML that parses to the same rule."""

import json
import shlex
from collections.abc import Iterator, Sequence

from tejat.core.errors import UsageError
from tejat.core.i18n import LazyString, join_lazy, lazy, map_lazy
from tejat.core.sanitize import sanitize_line
from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.rules.command_prefix import format_prefix
from tejat.policy.types import PolicyRule

_MAX_NAME_LENGTH = 60
_ESCAPED = {code: f"\\u{code:04X}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF)}


def format_rule(rule: PolicyRule) -> LazyString:
    """Return everything that a rule covers in one line: `allow run_shell_command: git log`."""
    return join_lazy("", _parts(rule))


def format_quoted_rule(rule: PolicyRule) -> LazyString:
    """Return the rule in backquotes, for use in a sentence."""
    known = _quoted_rules.get(id(rule))
    if known is None:
        if len(_quoted_rules) >= _MAX_QUOTED_RULES:
            _quoted_rules.clear()
        known = _quoted_rules[id(rule)] = rule, join_lazy("", ("`", format_rule(rule), "`"))
    return known[1]


_quoted_rules: dict[int, tuple[PolicyRule, LazyString]] = {}
"""The texts of rules that have decided, each kept with its rule, by identity: one is needed at every call."""
_MAX_QUOTED_RULES = 256


def rule_to_toml(rule: PolicyRule) -> str:
    """Return a `[[rule]]` table that parses to the same rule, apart from tier and source.

    Raises UsageError for a rule that only settings can express.
    """
    if isinstance(rule, AllowlistRule):
        raise UsageError(lazy("a list in the settings cannot be written as one rule: {rule}", rule=format_rule(rule)))
    fields: list[tuple[str, str]] = [("tool", _string(rule.tool))]
    if rule.server is not None:
        fields.append(("server", _string(rule.server)))
    if rule.command is not None:
        fields.append(("command", _command(rule.command)))
    texts = (
        ("name", rule.name),
        ("description", rule.description),
        ("subagent", rule.subagent),
        ("skill", rule.skill),
        ("commandRegex", rule.command_pattern),
        ("arguments", rule.arguments),
        ("path", rule.path),
        ("project", rule.project),
    )
    for key, value in texts:
        if value is not None:
            fields.append((key, _string(value)))
    fields.append(("decision", _string(rule.decision.value)))
    if rule.modes is not None:
        fields.append(("modes", _strings(sorted(mode.value for mode in rule.modes))))
    if rule.hints is not None:
        fields.append(("toolAnnotations", _hints(rule.hints)))
    if rule.interactive is not None:
        fields.append(("interactive", json.dumps(rule.interactive)))
    flags = (("allowRedirection", rule.allows_redirection), ("network", rule.allows_network))
    fields += [(key, "true") for key, is_set in flags if is_set]
    if rule.message is not None:
        fields.append(("message", _string(rule.message)))
    if rule.priority:
        fields.append(("priority", str(rule.priority)))
    return "".join(["[[rule]]\n", *(f"{key} = {value}\n" for key, value in fields)])


def _parts(rule: PolicyRule) -> Iterator[str]:
    yield f"{rule.decision.value} "
    yield lazy("every tool") if rule.tool == "*" else sanitize_line(rule.tool)
    if rule.server is not None:
        every = rule.server == "*"
        yield (lazy(" of every server") if every else lazy(" of server {server}", server=sanitize_line(rule.server)))
    if isinstance(rule, AllowlistRule):
        listed = rule.allowlist_text
        yield lazy(" except {listed}", listed=listed if isinstance(listed, LazyString) else sanitize_line(listed))
    if rule.command is not None:
        yield f": {sanitize_line(shlex.join(rule.command))}"
    if rule.skill is not None:
        yield lazy(": scripts of the skill {skill}", skill=sanitize_line(rule.skill))
    if rule.command_pattern is not None:
        yield lazy(", command like {pattern}", pattern=_quoted(rule.command_pattern))
    if rule.arguments is not None:
        yield lazy(", arguments like {pattern}", pattern=_quoted(rule.arguments))
    if rule.path is not None:
        yield lazy(", path {path}", path=_quoted(rule.path))
    if rule.hints is not None:
        yield lazy(", annotated {hints}", hints=sanitize_line(_hints(rule.hints)))
    if rule.spares_reading:
        yield lazy(", except read-only tools")
    if rule.spares_plans:
        yield lazy(", except plan files")
    yield from _limits(rule)


def _limits(rule: PolicyRule) -> Iterator[str]:
    if rule.project is not None:
        yield lazy(", in project {project}", project=_quoted(rule.project))
    if rule.modes is not None:
        yield lazy(", in mode {modes}", modes=" or ".join(sorted(mode.value for mode in rule.modes)))
    if rule.interactive is not None:
        yield lazy(", if interactive") if rule.interactive else lazy(", if non-interactive")
    if rule.allows_redirection:
        yield lazy(", with redirection to workspace files (>)")
    if rule.allows_network:
        yield lazy(", with network access")
    if rule.subagent is not None:
        yield lazy(", by the agent {agent}", agent=sanitize_line(rule.subagent))
    if rule.name is not None:
        yield lazy(" ({name})", name=map_lazy(rule.name, _shorten))


def _shorten(name: str) -> str:
    line = sanitize_line(name)
    return line if len(line) <= _MAX_NAME_LENGTH else f"{line[:_MAX_NAME_LENGTH]}..."


def _command(tokens: Sequence[str]) -> str:
    """Return one prefix: as a string if its words can be split at blanks, else as a list of words."""
    text = format_prefix(tuple(tokens))
    return f"[{_strings(tokens)}]" if text is None else _string(text)


def _hints(hints: Sequence[tuple[str, object]]) -> str:
    """Return annotations as an inline table of TOML."""
    return "{" + ", ".join(f"{_string(name)} = {json.dumps(value)}" for name, value in hints) + "}"


def _strings(values: Sequence[str]) -> str:
    return "[" + ", ".join(_string(value) for value in values) + "]"


def _string(value: str) -> str:
    """Return a TOML basic string: JSON's escapes are valid TOML, and other forbidden characters are escaped too."""
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPED)


def _quoted(value: str) -> str:
    return sanitize_line(json.dumps(value, ensure_ascii=False))
