"""A rule written down: as one line for a person, and as TOML that reads back to the same rule."""

import json
import shlex
from collections.abc import Iterator, Sequence

from tejat.core.errors import UsageError
from tejat.core.visible import visible
from tejat.core.words import Phrase, joined, phrase
from tejat.policy.rules import Rule
from tejat.policy.unlisted import Unlisted

_ESCAPED = {code: f"\\u{code:04X}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF)}


def rule_text(rule: Rule) -> Phrase:
    """The whole of what a rule covers, on one line: `allow run_shell_command: git log`."""
    return joined("", _pieces(rule))


def quoted_rule(rule: Rule) -> Phrase:
    """The same as it stands in a sentence."""
    return joined("", ("`", rule_text(rule), "`"))


def rule_toml(rule: Rule) -> str:
    """A `[[rule]]` table that reads back to the same rule, but for where it stands (its tier and source).

    Raises UsageError for a rule that only settings can make.
    """
    if isinstance(rule, Unlisted):
        raise UsageError(phrase("a list in the settings cannot be written as one rule: {rule}", rule=rule_text(rule)))
    fields: list[tuple[str, str]] = [("tool", _string(rule.tool))]
    if rule.server is not None:
        fields.append(("server", _string(rule.server)))
    if rule.command is not None:
        fields.append(("command", _command(rule.command)))
    for key, value in (("arguments", rule.arguments), ("path", rule.path), ("project", rule.project)):
        if value is not None:
            fields.append((key, _string(value)))
    fields.append(("decision", _string(rule.decision.value)))
    if rule.modes is not None:
        fields.append(("modes", _strings(sorted(mode.value for mode in rule.modes))))
    fields += [(key, "true") for key, is_set in _switches(rule) if is_set]
    if rule.message is not None:
        fields.append(("message", _string(rule.message)))
    if rule.priority:
        fields.append(("priority", str(rule.priority)))
    return "".join(["[[rule]]\n", *(f"{key} = {value}\n" for key, value in fields)])


def _pieces(rule: Rule) -> Iterator[str]:
    yield f"{rule.decision.value} "
    yield phrase("every tool") if rule.tool == "*" else _clean(rule.tool)
    if rule.server is not None:
        every = rule.server == "*"
        yield phrase(" of every server") if every else phrase(" of server {server}", server=_clean(rule.server))
    if isinstance(rule, Unlisted):
        listed = rule.listed_text
        yield phrase(" except {listed}", listed=listed if isinstance(listed, Phrase) else _clean(listed))
    if rule.command is not None:
        yield f": {_clean(shlex.join(rule.command))}"
    if rule.arguments is not None:
        yield phrase(", arguments like {pattern}", pattern=_quoted(rule.arguments))
    if rule.path is not None:
        yield phrase(", path {path}", path=_quoted(rule.path))
    if rule.project is not None:
        yield phrase(", in project {project}", project=_quoted(rule.project))
    if rule.modes is not None:
        yield phrase(", in mode {modes}", modes=" or ".join(sorted(mode.value for mode in rule.modes)))
    if rule.redirection:
        yield phrase(", writing to files inside (>)")
    if rule.network:
        yield phrase(", with the network")


def _switches(rule: Rule) -> tuple[tuple[str, bool], ...]:
    return ("allowRedirection", rule.redirection), ("network", rule.network)


def _command(tokens: Sequence[str]) -> str:
    """One prefix: as a string where its words can be told apart, else as a list of its words."""
    joined = " ".join(tokens)
    return _string(joined) if tuple(joined.split()) == tuple(tokens) else f"[{_strings(tokens)}]"


def _strings(values: Sequence[str]) -> str:
    return "[" + ", ".join(_string(value) for value in values) + "]"


def _string(value: str) -> str:
    """A basic string of TOML: JSON's escapes are a part of TOML's, what else TOML forbids is escaped too."""
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPED)


def _quoted(value: str) -> str:
    return _clean(json.dumps(value, ensure_ascii=False))


def _clean(text: str) -> str:
    return visible(text).replace("\n", "<U+000A>").replace("\t", "<U+0009>")
