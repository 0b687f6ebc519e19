"""Safety checkers of Gemini CLI in policy files, as rules that ask."""

from collections.abc import Mapping
from typing import cast

from tejat.core.i18n import lazy
from tejat.policy.errors import PolicyError
from tejat.policy.rules.rule_file import CONDITION_KEYS, build_rules
from tejat.policy.rules.toml_tables import TomlTable, parse_tables
from tejat.policy.types import Decision, PolicyRule, Tier

_KEYS = CONDITION_KEYS | {"priority", "modes", "checker"}
_PATH_CHECKER = ("in-process", "allowed-path")
_CHECKERS = frozenset(("in-process", "external"))


def parse_safety_checkers(text: str, *, source: str, tier: Tier, names: Mapping[str, str]) -> list[PolicyRule]:
    """Parse the tables `[[safety_checker]]`. Raises PolicyError, also for a checker that an administrator requires.

    There are no checkers here: the calls ask each time instead. Checkers of paths need nothing, because paths are
    confined to the workspace anyway.
    """
    tables = parse_tables(text, "safety_checker", file=source, beside=("rule",))
    return [rule for table in tables for rule in _parse_checker(table, tier, names)]


def _parse_checker(table: TomlTable, tier: Tier, names: Mapping[str, str]) -> list[PolicyRule]:
    table.validate_keys(_KEYS)
    kind, name = _parse_kind(table)
    if (kind, name) == _PATH_CHECKER:
        return []
    if tier is Tier.ADMIN:
        raise _unsupported(table, name)
    note = lazy("the safety checker {name!r} is not supported, so these calls need approval each time", name=name)
    shown = lazy("safety checker {name!r}", name=name)
    return build_rules(table, tier, names, Decision.ASK, note=note, name=shown)


def _parse_kind(table: TomlTable) -> tuple[str, str]:
    checker = table.value("checker")
    fields = cast("Mapping[str, object]", checker if isinstance(checker, Mapping) else {})
    kind, name = fields.get("type"), fields.get("name")
    if not isinstance(kind, str) or kind not in _CHECKERS or not isinstance(name, str) or not name:
        message = lazy("checker must be a table with a type (in-process or external) and a name")
        raise table.error(message, key="checker")
    return kind, name


def _unsupported(table: TomlTable, name: str) -> PolicyError:
    return table.error(
        lazy("the safety checker {name!r} is not supported, and an administrator requires it", name=name), key="checker"
    )
