"""A call under evaluation, with properties that are derived from its facts on demand."""

import json
from collections.abc import Mapping
from functools import cached_property

from tejat.core.i18n import lazy
from tejat.core.text.paths import is_beneath
from tejat.core.text.secret_files import is_secret_file
from tejat.policy.control_files import control_file_reason
from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.rules.matcher import matches_project, matches_tool
from tejat.policy.rules.patterns import matches_glob, matches_regex
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
    def arguments_json(self) -> str:
        """The arguments as JSON with sorted keys and no spaces. Raises if they cannot be serialised."""
        return dump_arguments(self.facts.arguments)

    def matches_rule(self, rule: PolicyRule) -> bool:
        """Return whether the rule applies to this call, apart from the commands of its shell line."""
        facts = self.facts
        if not matches_tool(rule, facts.tool, facts.server) or not matches_project(rule, facts.roots):
            return False
        if facts.line is None and _is_command_rule(rule):
            return False
        if rule.arguments is not None and not self._matches_arguments(rule, rule.arguments):
            return False
        return rule.path is None or self._matches_path(rule, rule.path)

    def _matches_arguments(self, rule: PolicyRule, pattern: str) -> bool:
        return matches_regex(pattern, self.arguments_json)

    def _matches_path(self, rule: PolicyRule, glob: str) -> bool:
        """Match the paths: any one suffices to deny or ask, all must match to allow."""
        fits = [matches_glob(glob, path, roots=self.facts.roots, home=self.facts.home) for path in self.paths]
        return bool(fits) and all(fits) if rule.decision is Decision.ALLOW else any(fits)

    def control_file_warning(self) -> str | None:
        """Return which control file the call would change and why it is one, None if there is none."""
        for path in self.written_paths:
            why = control_file_reason(path, root=self._nearest_root(path))
            if why:
                return lazy("{path} is a control file: {why}", path=path, why=why)
        return None

    def secret_files(self) -> tuple[str, ...]:
        """Return the files that the call would show to the model and that usually hold secrets."""
        return tuple(path for path in self.paths if is_secret_file(path))

    def _nearest_root(self, path: str) -> str:
        """Return the nearest root above the path, `/` for a path outside."""
        return max((root for root in self.facts.roots if is_beneath(path, root)), key=len, default="/")


def dump_arguments(arguments: Mapping[str, object]) -> str:
    """Return arguments as the JSON that patterns are searched in: with sorted keys and no spaces."""
    return json.dumps(dict(arguments), ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)


def _is_command_rule(rule: PolicyRule) -> bool:
    return rule.command is not None or (isinstance(rule, AllowlistRule) and rule.commands is not None)
