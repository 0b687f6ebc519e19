"""Cases that a person writes to see whether the rules do what they should."""

from collections.abc import Callable, Mapping
from typing import cast

from tejat.core.json_text import NotJson, load_json
from tejat.core.value import value
from tejat.core.words import phrase
from tejat.policy.rules import Decision, Verdict
from tejat.policy.toml_tables import Table, tables_in
from tejat.policy.tool_names import SHELL

_KEYS = frozenset(("tool", "arguments", "command", "expect", "rule"))


@value
class CaseResult:
    """How one case came out. `problem` is None where it came out as expected."""

    source: str
    tool: str
    arguments: Mapping[str, object]
    expected: Decision
    verdict: Verdict
    problem: str | None

    @property
    def is_as_expected(self) -> bool:
        return self.problem is None


def check_cases(text: str, decide: Callable[[str, Mapping[str, object]], Verdict], *, source: str) -> list[CaseResult]:
    """Judge every `[[case]]` of a TOML text with `decide`. Raises PolicyError for a case that cannot be read.

    A case has a `tool` with `arguments` (a table or JSON) or a shell `command`, what to `expect`, and perhaps a part of
    the source of the `rule` that is to decide.
    """
    return [_checked(table, decide) for table in tables_in(text, "case", file=source)]


def _checked(table: Table, decide: Callable[[str, Mapping[str, object]], Verdict]) -> CaseResult:
    table.check_keys(_KEYS)
    tool, arguments = _call(table)
    expected = _expected(table)
    rule = table.string("rule")
    verdict = decide(tool, arguments)
    return CaseResult(
        source=f"{table.file}:{table.line}",
        tool=tool,
        arguments=arguments,
        expected=expected,
        verdict=verdict,
        problem=_problem(verdict, expected, rule),
    )


def _call(table: Table) -> tuple[str, Mapping[str, object]]:
    command = table.string("command")
    tool = table.string("tool") or (None if command is None else SHELL)
    if tool is None:
        raise table.problem(phrase("tool is missing"))
    if command is not None:
        if table.key("arguments"):
            raise table.problem(phrase("give command or arguments, not both"), key="command")
        return tool, {"command": command}
    value = table.value("arguments")
    if isinstance(value, str):
        try:
            value = load_json(value)
        except NotJson as error:
            raise table.problem(phrase("arguments: this is not JSON: {why}", why=error), key="arguments") from None
    if value is None:
        return tool, {}
    if not isinstance(value, dict):
        raise table.problem(phrase("arguments must be a table or a JSON object"), key="arguments")
    return tool, cast("dict[str, object]", value)


def _expected(table: Table) -> Decision:
    text = table.string("expect")
    if text not in list(Decision):
        raise table.problem(phrase("expect must be allow, ask or deny"), key="expect")
    return Decision(text)


def _problem(verdict: Verdict, expected: Decision, rule: str | None) -> str | None:
    if verdict.decision is not expected:
        return phrase(
            "expected {expected}, got {decision}: {why}",
            expected=expected,
            decision=verdict.decision,
            why=verdict.reason,
        )
    if rule is not None and rule not in verdict.source:
        return phrase("expected the rule of {rule}, got that of {source}", rule=rule, source=verdict.source)
    return None
