"""Test cases for a policy, written by the user in TOML."""

from collections.abc import Callable, Mapping
from typing import cast

from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson, load_json
from tejat.policy.errors import PolicyError
from tejat.policy.rules.toml_tables import TomlTable, parse_tables
from tejat.policy.tool_names import SHELL
from tejat.policy.types import Decision, PolicyVerdict

_KEYS = frozenset(("tool", "arguments", "command", "expect", "rule"))


class CaseResult(Frozen):
    """Result of one case. `problem` is None if it passed."""

    source: str
    tool: str
    arguments: Mapping[str, object]
    expected: Decision
    verdict: PolicyVerdict
    problem: str | None

    @property
    def passed(self) -> bool:
        return self.problem is None


def run_cases(
    text: str, decide: Callable[[str, Mapping[str, object]], PolicyVerdict], *, source: str
) -> list[CaseResult]:
    """Run every `[[case]]` of a TOML text through `decide`. Raises UsageError for an invalid case.

    A case has a `tool` with `arguments` (a table or JSON) or a shell `command`, an expected decision (`expect`), and
    optionally a part of the source of the deciding `rule`.
    """
    try:
        cases = [_parse_case(table) for table in parse_tables(text, "case", file=source)]
    except PolicyError as error:
        raise UsageError(str(error)) from None  # unlike a rule, a case is no configuration
    return [_run_case(case, decide) for case in cases]


class _Case(Frozen):
    source: str
    tool: str
    arguments: Mapping[str, object]
    expected: Decision
    rule: str | None


def _parse_case(table: TomlTable) -> _Case:
    table.validate_keys(_KEYS)
    tool, arguments = _parse_call(table)
    return _Case(f"{table.file}:{table.line}", tool, arguments, _parse_expected(table), table.string("rule"))


def _run_case(case: _Case, decide: Callable[[str, Mapping[str, object]], PolicyVerdict]) -> CaseResult:
    verdict = decide(case.tool, case.arguments)
    problem = _problem(verdict, case.expected, case.rule)
    return CaseResult(case.source, case.tool, case.arguments, case.expected, verdict, problem)


def _parse_call(table: TomlTable) -> tuple[str, Mapping[str, object]]:
    command = table.string("command")
    tool = table.string("tool") or (None if command is None else SHELL)
    if tool is None:
        raise table.error(lazy("tool is missing"))
    if command is not None:
        if table.key("arguments"):
            raise table.error(lazy("use either command or arguments"), key="command")
        return tool, {"command": command}
    value = table.value("arguments")
    if isinstance(value, str):
        try:
            value = load_json(value)
        except InvalidJson as error:
            raise table.error(lazy("arguments: this is not JSON: {why}", why=error), key="arguments") from None
    if value is None:
        return tool, {}
    if not isinstance(value, dict):
        raise table.error(lazy("arguments must be a table or a JSON object"), key="arguments")
    return tool, cast("dict[str, object]", value)


def _parse_expected(table: TomlTable) -> Decision:
    text = table.string("expect")
    if text not in list(Decision):
        raise table.error(lazy("expect must be allow, ask or deny"), key="expect")
    return Decision(text)


def _problem(verdict: PolicyVerdict, expected: Decision, rule: str | None) -> str | None:
    if verdict.decision is not expected:
        got, why = verdict.decision, verdict.reason
        return lazy("expected {expected}, got {decision}: {why}", expected=expected, decision=got, why=why)
    if rule is not None and rule not in verdict.source:
        return lazy("expected rule {rule}, got {source}", rule=rule, source=verdict.source)
    return None
