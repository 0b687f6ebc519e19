"""Conditions of a rule on commands, arguments, paths and annotations, in our spelling and that of Gemini CLI."""

import json
import posixpath
import re
from collections.abc import Callable, Mapping
from typing import cast

from tejat.core.frozen import Frozen
from tejat.core.i18n import join_lazy, lazy
from tejat.policy.rules.command_prefix import InvalidPrefix, parse_prefix
from tejat.policy.rules.patterns import (
    NUL_ESCAPE,
    InvalidPattern,
    UnsupportedPattern,
    escape_path,
    validate_glob,
    validate_regex,
)
from tejat.policy.rules.toml_tables import TomlTable
from tejat.policy.types import Decision

COMMAND = ("command", "commandPrefix")
COMMAND_REGEX = "commandRegex"
ARGUMENTS = ("arguments", "argsPattern")
HINTS = "toolAnnotations"
SUBAGENT = "subagent"
SKILL = "skill"

# Gemini CLI saves an approval for one file as a pattern for one member of the arguments between NULs, which it writes
# with a backslash too many.
_DELIMITERS = (r"\\0", r"\0")
_ESCAPED = re.compile(r"""\\([-\[\]{}()*+?.,\\^$|#\s"])""")
_SPECIAL = re.compile(r"""[-\[\]{}()*+?.,\\^$|#\s"]""")
_PATH_MEMBERS = frozenset(("file_path", "absolute_path", "dir_path", "path"))


class Condition(Frozen):
    """Parsed conditions. `commands` pairs the words and the pattern of each alternative, of which one is None.

    `decision` may be milder than written, if the rule then applies to more calls. `passed_over` and `note` are for the
    rule.
    """

    decision: Decision
    commands: tuple[tuple[tuple[str, ...] | None, str | None], ...] = ((None, None),)
    arguments: str | None = None
    path: str | None = None
    hints: tuple[tuple[str, object], ...] | None = None
    passed_over: str | None = None
    notes: tuple[str, ...] = ()
    names_command: bool = False
    subagent: str | None = None
    skill: str | None = None

    @property
    def note(self) -> str | None:
        return join_lazy("; ", self.notes) if self.notes else None


def parse_condition(table: TomlTable, decision: Decision) -> Condition:
    """Parse the conditions of a table. Raises PolicyError.

    What is not supported never loosens anything: a rule that allows is passed over, and one that denies or asks applies
    to more calls.
    """
    return _ConditionParser(table, decision).parse()


class _ConditionParser:
    def __init__(self, table: TomlTable, decision: Decision) -> None:
        self._table = table
        self._decision = decision
        self._passed_over: str | None = None
        self._notes: list[str] = []

    def parse(self) -> Condition:
        commands = self._parse_commands()
        arguments, saved_path = self._parse_arguments()
        path = self._parse_pattern(("path",), validate_glob)
        hints = self._parse_hints()
        return Condition(
            self._decision,
            commands,
            arguments,
            saved_path if path is None else path,
            hints,
            self._passed_over,
            tuple(self._notes),
            names_command=any(self._table.key(key) for key in (*COMMAND, COMMAND_REGEX, SKILL)),
            subagent=self._parse_subagent(),
            skill=self._parse_skill(),
        )

    @property
    def _allows(self) -> bool:
        return self._decision is Decision.ALLOW

    def _parse_commands(self) -> tuple[tuple[tuple[str, ...] | None, str | None], ...]:
        """Return the prefixes: a string is split into words, a list has several, a nested list is one in words."""
        if self._table.key(COMMAND_REGEX):
            return ((None, self._parse_command_regex()),)
        value = self._table.value(*COMMAND)
        if value is None:
            return ((None, None),)
        items = cast("list[object]", value) if isinstance(value, list) else [value]
        prefixes = [self._parse_prefix(item) for item in items]
        if not prefixes or not all(prefixes):
            message = lazy("command must be a string or a list of strings that start with a program name")
            raise self._table.error(message, key=self._table.key(*COMMAND))
        return tuple(prefix for prefix in prefixes if prefix)

    def _parse_command_regex(self) -> str | None:
        for other in (*COMMAND, *ARGUMENTS):
            if self._table.key(other):
                message = lazy("use either {key} or {other}", key=COMMAND_REGEX, other=other)
                raise self._table.error(message, key=COMMAND_REGEX)
        pattern = self._parse_regex((COMMAND_REGEX,))
        if self._allows:
            self._pass_over(lazy("commandRegex cannot allow commands: use commandPrefix"))
        return pattern

    def _parse_prefix(self, item: object) -> tuple[tuple[str, ...] | None, str | None] | None:
        if isinstance(item, list):
            words = cast("list[object]", item)
            if not words or not words[0] or not all(isinstance(word, str) for word in words):
                return None
            return tuple(cast("list[str]", words)), None
        if not isinstance(item, str):
            return None
        try:
            words = parse_prefix(item)
        except InvalidPrefix as error:
            if self._table.key(*COMMAND) != "commandPrefix":
                raise self._table.error(str(error), key=self._table.key(*COMMAND)) from None
            # Gemini CLI compares the characters of a prefix, whatever they mean in a shell.
            self._pass_over(str(error))
            return None, rf"{escape_regex(item)}(?:\s|\\?\"|$)"
        return (words, None) if words else None

    def _parse_arguments(self) -> tuple[str | None, str | None]:
        """Return the pattern for the arguments, or the path if it stands for one file."""
        pattern = self._table.string(*ARGUMENTS)
        member = None if pattern is None else _delimited_member(pattern)
        if member is None:
            return self._parse_regex(ARGUMENTS), None
        path = _member_path(member)
        return (f"{NUL_ESCAPE}{member}{NUL_ESCAPE}", None) if path is None else (None, escape_path(path))

    def _parse_regex(self, spellings: tuple[str, ...]) -> str | None:
        try:
            return self._parse_pattern(spellings, validate_regex)
        except _Unsupported as error:
            key = self._table.key(*spellings)
            why = lazy("{key} cannot be checked: {why}", key=key, why=error.why)
            if self._decision is Decision.DENY:
                self._decision = Decision.ASK
            self._pass_over(why)
            if not self._allows:
                self._notes.append(lazy("{why}, so every call of the tool needs approval", why=why))
            return None

    def _parse_pattern(self, spellings: tuple[str, ...], validate: Callable[[str], None]) -> str | None:
        pattern = self._table.string(*spellings)
        if pattern is not None:
            try:
                validate(pattern)
            except UnsupportedPattern as error:
                raise _Unsupported(str(error)) from None
            except InvalidPattern as error:
                key = self._table.key(*spellings)
                raise self._table.error(join_lazy("", (f"{key}: ", str(error))), key=key) from None
        return pattern

    def _parse_hints(self) -> tuple[tuple[str, object], ...] | None:
        value = self._table.value(HINTS)
        if value is None:
            return None
        hints = cast("Mapping[str, object]", value) if isinstance(value, Mapping) else None
        if not hints or not all(isinstance(hint, str | bool | int | float) for hint in hints.values()):
            message = lazy("{key} must be a table of strings, numbers and booleans", key=HINTS)
            raise self._table.error(message, key=HINTS)
        return tuple(sorted(hints.items()))

    def _parse_subagent(self) -> str | None:
        agent = self._table.string(SUBAGENT)
        if agent == "":
            raise self._table.error(lazy("{key} must name an agent", key=SUBAGENT), key=SUBAGENT)
        return agent

    def _parse_skill(self) -> str | None:
        skill = self._table.string(SKILL)
        if skill is None:
            return None
        if not skill.rpartition(":")[2]:
            raise self._table.error(lazy("{key} must name a skill", key=SKILL), key=SKILL)
        for other in (*COMMAND, COMMAND_REGEX):
            if self._table.key(other):
                raise self._table.error(lazy("use either {key} or {other}", key=SKILL, other=other), key=SKILL)
        for example in ("match", "not_match"):
            if self._table.key(example):
                message = lazy(
                    "{key} cannot be used with {other}: which scripts a skill has is not known here",
                    key=example,
                    other=SKILL,
                )
                raise self._table.error(message, key=example)
        return skill

    def _pass_over(self, why: str) -> None:
        """Pass over a rule that allows; others are not affected."""
        if self._allows and self._passed_over is None:
            self._passed_over = why
            self._notes.append(why)


class _Unsupported(Exception):
    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def escape_regex(text: str) -> str:
    """Return the regular expression for a text, escaped as Gemini CLI does."""
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", text)


def _delimited_member(pattern: str) -> str | None:
    """Return the pattern between two NULs, None if it is not written like that."""
    for delimiter in _DELIMITERS:
        if pattern.startswith(delimiter) and pattern.endswith(delimiter) and len(pattern) > 2 * len(delimiter):
            inner = pattern[len(delimiter) : -len(delimiter)]
            text = _ESCAPED.sub(r"\1", inner)
            return inner if escape_regex(text) == inner else None
    return None


def _member_path(member: str) -> str | None:
    """Return the path that a pattern for one member names, None if it names something else."""
    try:
        value: object = json.loads("{" + _ESCAPED.sub(r"\1", member) + "}")
    except ValueError:
        return None
    if not isinstance(value, dict) or len(members := cast("dict[str, object]", value)) != 1:
        return None
    name, path = next(iter(members.items()))
    if name not in _PATH_MEMBERS or not isinstance(path, str) or not path or "\0" in path:
        return None
    plain = posixpath.normpath(path)
    return None if plain.split("/")[0] == ".." else plain
