"""One call that is judged, with what is derived from its facts only when a rule asks for it."""

import json
from functools import cached_property

from tejat.core.words import phrase
from tejat.policy.control_files import is_control_file
from tejat.policy.matching import is_for_project, names_tool
from tejat.policy.patterns import fits_glob, is_found
from tejat.policy.places import is_inside
from tejat.policy.rules import Decision, Facts, Rule
from tejat.policy.unlisted import Unlisted


class Call:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    @cached_property
    def places(self) -> tuple[str, ...]:
        """Every path that the call is known to touch."""
        return self.facts.paths

    @cached_property
    def changed_places(self) -> tuple[str, ...]:
        """Those of them that it may change, if it is a call that changes anything."""
        return self.facts.paths

    @cached_property
    def arguments_text(self) -> str:
        """The arguments as JSON with sorted keys and no spaces. Raises for what cannot be written so."""
        arguments = dict(self.facts.arguments)
        return json.dumps(arguments, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)

    def is_meant_by(self, rule: Rule) -> bool:
        """Whether the rule is for this call, whatever the commands of its shell line are."""
        facts = self.facts
        if not names_tool(rule, facts.tool, facts.server) or not is_for_project(rule, facts.roots):
            return False
        if facts.line is None and _is_for_commands(rule):
            return False
        if rule.arguments is not None and not is_found(rule.arguments, self.arguments_text):
            return False
        return rule.path is None or self._fits_path(rule, rule.path)

    def _fits_path(self, rule: Rule, glob: str) -> bool:
        """One path is enough to forbid or ask; to allow, all of them have to fit."""
        fits = [fits_glob(glob, path, roots=self.facts.roots, home=self.facts.home) for path in self.places]
        return bool(fits) and all(fits) if rule.decision is Decision.ALLOW else any(fits)

    def control_file(self) -> str | None:
        """The control file that the call would change and why it is one, in words, or None."""
        for path in self.changed_places:
            why = is_control_file(path, root=self._root_above(path))
            if why:
                return phrase("{path} is a control file: {why}", path=path, why=why)
        return None

    def _root_above(self, path: str) -> str:
        """The nearest root above the path; of a path outside every name counts."""
        return max((root for root in self.facts.roots if is_inside(path, (root,))), key=len, default="/")


def _is_for_commands(rule: Rule) -> bool:
    return rule.command is not None or (isinstance(rule, Unlisted) and rule.commands is not None)
