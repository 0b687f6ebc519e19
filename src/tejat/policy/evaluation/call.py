"""A call under evaluation, with properties that are derived from its facts on demand."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property

from tejat.core.i18n import lazy
from tejat.core.messages.declaration import READ_ONLY_KINDS
from tejat.core.text.paths import is_beneath
from tejat.core.text.secret_files import is_secret_file
from tejat.policy.control_files import control_file_reason
from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.rules.matcher import matches_caller, matches_project, matches_skill
from tejat.policy.rules.patterns import NUL_ESCAPE, matches_glob, matches_regex
from tejat.policy.types import CallFacts, Decision, PolicyRule


class Call:
    """A tool call that runs no shell line."""

    def __init__(self, facts: CallFacts) -> None:
        self.facts = facts

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """All paths that the call is known to touch."""
        return self.facts.paths

    @cached_property
    def written_paths(self) -> tuple[str, ...]:
        """The paths that it may change, if it changes anything."""
        return self.facts.paths

    @cached_property
    def _longest_roots(self) -> tuple[str, ...]:
        return tuple(sorted(self.facts.roots, key=len, reverse=True))

    @cached_property
    def arguments_json(self) -> "ArgumentsJson":
        return ArgumentsJson(self.facts.arguments)

    @cached_property
    def searched_text(self) -> str:
        """Every text that the patterns of rules are searched in, apart from quotes and the signs of JSON."""
        return self.arguments_json.text

    def matches_rule(self, rule: PolicyRule) -> bool:
        """Return whether the rule applies to this call, apart from the commands of its shell line."""
        facts = self.facts
        if not matches_caller(rule, facts) or not matches_project(rule, facts.roots):
            return False
        if facts.line is None and _is_command_rule(rule):
            return False
        if rule.skill is not None and not any(matches_skill(rule, each.qualified_name) for each in facts.skill_scripts):
            return False
        if (rule.spares_reading and facts.kind in READ_ONLY_KINDS) or (rule.spares_plans and facts.plan_file):
            return False
        if rule.hints is not None and not self._has_hints(rule, rule.hints):
            return False
        if rule.arguments is not None and not self._matches_arguments(rule, rule.arguments):
            return False
        if rule.command_pattern is not None and not self._matches_command_pattern(rule.command_pattern):
            return False
        return rule.path is None or self._matches_path(rule, rule.path)

    def _has_hints(self, rule: PolicyRule, hints: Sequence[tuple[str, object]]) -> bool:
        """Compare annotations. A server that does not annotate its tool does not escape a denial or a question."""
        given = self.facts.hints
        is_strict = rule.decision is not Decision.ALLOW
        return all(given[name] == value if name in given else is_strict for name, value in hints)

    def _matches_arguments(self, rule: PolicyRule, pattern: str) -> bool:
        return self.arguments_json.matches(pattern, is_strict=rule.decision is not Decision.ALLOW)

    def _matches_command_pattern(self, pattern: str) -> bool:
        return False  # only shell lines have commands

    def _matches_path(self, rule: PolicyRule, glob: str) -> bool:
        """Match the paths: any one suffices to deny or ask, all must match to allow."""
        fits = [matches_glob(glob, path, roots=self.facts.roots, home=self.facts.home) for path in self.paths]
        return bool(fits) and all(fits) if rule.decision is Decision.ALLOW else any(fits)

    def control_file_warning(self) -> str | None:
        """Return which control file the call would change and why it is one, None if there is none."""
        for path in self._possible_control_files():
            why = self.control_reason(path)
            if why:
                return lazy("{path} is a control file: {why}", path=path, why=why)
        return None

    def control_reason(self, path: str) -> str | None:
        """Return why a path is a control file, None if it is not."""
        return control_file_reason(path, root=self._nearest_root(path))

    def secret_files(self) -> tuple[str, ...]:
        """Return the files that the call would show to the model and that usually hold secrets."""
        return tuple(filter(is_secret_file, self._possible_secret_files()))

    def _possible_control_files(self) -> Sequence[str]:
        """The written paths, perhaps without some that are surely no control files."""
        return self.written_paths

    def _possible_secret_files(self) -> Sequence[str]:
        """The paths, perhaps without some that surely hold no secrets."""
        return self.paths

    def _nearest_root(self, path: str) -> str:
        """Return the nearest root above the path, `/` for a path outside."""
        return next((root for root in self._longest_roots if is_beneath(path, root)), "/")


class ArgumentsJson:
    """The arguments as the JSON that patterns are searched in: with sorted keys and no spaces.

    Gemini CLI puts a NUL before and after each member of the object. A pattern that names NUL is searched in that form,
    any other in the usual one. Creating the JSON raises if the arguments cannot be serialised.
    """

    def __init__(self, arguments: Mapping[str, object]) -> None:
        self._arguments = arguments

    def with_command(self, command: str) -> "ArgumentsJson":
        """The same arguments with another command."""
        return ArgumentsJson({**self._arguments, "command": command})

    @cached_property
    def text(self) -> str:
        return _dump(self._arguments)

    @cached_property
    def delimited(self) -> str:
        members = (_dump({name: self._arguments[name]})[1:-1] for name in sorted(self._arguments))
        return "{" + ",".join(f"\0{member}\0" for member in members) + "}"

    def matches(self, pattern: str, *, is_strict: bool) -> bool:
        """Search a pattern. With `is_strict` it is searched in both forms."""
        names_nul = NUL_ESCAPE in pattern
        if (is_strict or not names_nul) and matches_regex(pattern, self.text):
            return True
        return (is_strict or names_nul) and matches_regex(pattern, self.delimited)


def command_expressions(pattern: str) -> tuple[str, str]:
    """Return the expressions for the pattern of a command: one for its text, one for the JSON of the arguments."""
    return f"^(?:{pattern})", f'"command":"{pattern}'


def _dump(arguments: Mapping[str, object]) -> str:
    return json.dumps(dict(arguments), ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)


def _is_command_rule(rule: PolicyRule) -> bool:
    return rule.command is not None or (isinstance(rule, AllowlistRule) and rule.commands is not None)
