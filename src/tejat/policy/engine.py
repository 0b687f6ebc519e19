"""The decision: may this call run, must a person be asked, or is it forbidden?"""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tejat.core.tool import READ_ONLY_KINDS, Kind
from tejat.core.visible import visible
from tejat.policy.command_line import Command
from tejat.policy.coverage import Shape, control_file_of, gap_in, shape_of
from tejat.policy.defaults import default_rules
from tejat.policy.matching import Call, concerns, is_for_project, is_in_force, is_meant, names_tool
from tejat.policy.offers import offered_rule
from tejat.policy.rule_text import rule_text
from tejat.policy.rules import Decision, Facts, Mode, Rule, Tier, Verdict
from tejat.policy.tool_names import MEMORY

_LONGEST_SHOWN = 120


class Policy:
    """All rules that count, in one mode. It never changes: a new rule or mode makes a new policy."""

    def __init__(self, rules: Sequence[Rule], mode: Mode) -> None:
        self._given = tuple(rules)
        self.mode = mode
        self.rules: tuple[Rule, ...] = (*self._given, *default_rules())
        self.has_path_rules = any(rule.path is not None for rule in self.rules)
        self._in_force = tuple(rule for rule in self.rules if is_in_force(rule, mode) and not _is_void(rule))

    def with_rule(self, rule: Rule) -> "Policy":
        return Policy((*self._given, rule), self.mode)

    def in_mode(self, mode: Mode) -> "Policy":
        return Policy(self._given, mode)

    def hides(self, tool: str, server: str | None = None) -> bool:
        """Whether the tool is forbidden whatever its arguments are, so that a model need not know of it."""
        return any(
            rule.decision is Decision.DENY
            and not rule.is_restricted
            and rule.project is None
            and names_tool(rule, tool, server)
            for rule in self._in_force
        )

    def decide(self, facts: Facts) -> Verdict:
        """Never raises: what cannot be judged is asked, or forbidden where asking could be skipped."""
        try:
            return self._verdict(Call(facts))
        except Exception as error:  # noqa: BLE001 -- no error here may let a call through
            return self._unjudged(facts, error)

    def _verdict(self, call: Call) -> Verdict:
        findings = _findings(self._in_force, call)
        strictest = max(findings, key=lambda finding: finding.weight)
        verdict = self._in_this_mode(_firmed(strictest.verdict(), call), call)
        if verdict.decision is not Decision.ASK or verdict.firm or self.mode is Mode.PLAN:
            return verdict
        uncovered = [finding.command for finding in findings if finding.command and not finding.is_allowed]
        return replace(verdict, offer=self._offer(call, uncovered))

    def _in_this_mode(self, verdict: Verdict, call: Call) -> Verdict:
        if verdict.decision is Decision.DENY:
            return verdict
        match self.mode:
            case Mode.DEFAULT:
                return verdict
            case Mode.AUTO_EDIT:
                return _auto_edited(verdict, call.facts)
            case Mode.YOLO:
                return self._without_asking(verdict, call)
            case Mode.PLAN:
                return _planned(verdict, call)

    def _without_asking(self, verdict: Verdict, call: Call) -> Verdict:
        """What asks is allowed, unless a rule might forbid it if only the line could be read."""
        line = call.facts.line
        unchecked = self._restricted_denial(call.facts) if line is not None and line.is_opaque else None
        if unchecked is not None:
            reason = f"The line hides what it runs, so the rule `{rule_text(unchecked)}` cannot be checked."
            return Verdict(Decision.DENY, unchecked, reason)
        if verdict.decision is Decision.ALLOW or verdict.firm:
            return verdict
        return Verdict(Decision.ALLOW, None, "Mode yolo allows what would be asked.")

    def _restricted_denial(self, facts: Facts) -> Rule | None:
        """A rule that forbids some calls of this tool."""
        return next(
            (
                rule
                for rule in self._in_force
                if rule.decision is Decision.DENY
                and rule.is_restricted
                and names_tool(rule, facts.tool, facts.server)
                and is_for_project(rule, facts.roots)
            ),
            None,
        )

    def _offer(self, call: Call, uncovered: Iterable[Command]) -> Rule | None:
        """The rule for an "always", if the call would then not be asked about again."""
        offer = offered_rule(call, uncovered)
        if offer is None:
            return None
        findings = _findings((*self._in_force, offer), call)
        return offer if all(finding.is_allowed for finding in findings) else None

    def _unjudged(self, facts: Facts, error: Exception) -> Verdict:
        words = f"The policy could not judge this call ({type(error).__name__}: {error})"
        if self.mode is Mode.PLAN and facts.kind not in READ_ONLY_KINDS:
            return Verdict(Decision.DENY, None, f"{words}, and plan mode only reads.")
        unchecked = self._restricted_denial(facts) if self.mode is Mode.YOLO else None
        if unchecked is not None:
            return Verdict(
                Decision.DENY, unchecked, f"{words}, so the rule `{rule_text(unchecked)}` cannot be checked."
            )
        return Verdict(Decision.ASK, None, f"{words}.", firm=True)


@dataclass(frozen=True, slots=True)
class _Finding:
    """What the rules say of a call or of one command. `gap` is why a rule that allows does not cover it."""

    rule: Rule | None
    gap: str | None = None
    command: Command | None = None

    @property
    def decision(self) -> Decision:
        return Decision.ASK if self.rule is None else self.rule.decision

    @property
    def is_allowed(self) -> bool:
        return self.decision is Decision.ALLOW

    @property
    def weight(self) -> tuple[int, int, int]:
        return _weight(self.rule) if self.rule else (Decision.ASK.strictness, 0, 0)

    def verdict(self) -> Verdict:
        return Verdict(self.decision, self.rule, self._reason())

    def _reason(self) -> str:
        of_command = f" ({_shown(self.command)})" if self.command else ""
        if self.rule is None:
            return f"No rule covers this{of_command}" + (f": {self.gap}." if self.gap else ".")
        text = rule_text(self.rule)
        match self.decision:
            case Decision.DENY:
                return f"The rule `{text}` forbids it{of_command}."
            case Decision.ALLOW:
                return f"The rule `{text}` allows it."
            case Decision.ASK if self.rule.tier is Tier.DEFAULT:
                return f"No rule allows this{of_command}" + (f": {self.gap}." if self.gap else ".")
            case Decision.ASK:
                return f"The rule `{text}` asks for it{of_command}."


def _shown(command: Command) -> str:
    text = visible(shlex.join(command.words).replace("\n", "\\n"))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _findings(in_force: Iterable[Rule], call: Call) -> list[_Finding]:
    """What the rules say: of the call, or of each command that its shell line would run."""
    rules = [rule for rule in in_force if concerns(rule, call)]
    line = call.facts.line
    if line is None:
        return [_finding([rule for rule in rules if not _lacks_network(rule, call)], _lack(rules, call))]
    shape = shape_of(call)
    if not line.commands:
        return [_finding([rule for rule in rules if _is_for_all_commands(rule)], shape.doubt)]
    return [_finding_of_command(rules, command, call, shape) for command in line.commands]


def _finding_of_command(rules: Iterable[Rule], command: Command, call: Call, shape: Shape) -> _Finding:
    matching: list[Rule] = []
    gap = None
    for rule in rules:
        if rule.decision is not Decision.ALLOW:
            if is_meant(rule, command, call):
                matching.append(rule)
            continue
        found = gap_in(rule, command, call, shape)
        if found is None:
            matching.append(rule)
        elif is_meant(rule, command, call):
            gap = found
    return replace(_finding(matching, gap or shape.doubt), command=command)


def _finding(matching: Iterable[Rule], gap: str | None) -> _Finding:
    """The rule that decides: the strictest of those that people wrote, else of the built-in ones.

    What the built-in rules forbid stays forbidden. Of equally strict rules the one of the highest tier is named.
    """
    found = list(matching)
    written = [rule for rule in found if rule.tier is not Tier.DEFAULT or rule.decision is Decision.DENY]
    return _Finding(max(written or found, key=_weight, default=None), gap)


def _weight(rule: Rule) -> tuple[int, int, int]:
    return rule.decision.strictness, rule.tier, rule.priority


def _is_void(rule: Rule) -> bool:
    """A workspace comes from somebody else: its rules can only make things stricter."""
    return rule.tier is Tier.WORKSPACE and rule.decision is Decision.ALLOW


def _is_for_all_commands(rule: Rule) -> bool:
    return rule.decision is not Decision.ALLOW and rule.command is None


def _lacks_network(rule: Rule, call: Call) -> bool:
    return rule.decision is Decision.ALLOW and call.facts.wants_network and not rule.network


def _lack(rules: Iterable[Rule], call: Call) -> str | None:
    is_lacking = any(_lacks_network(rule, call) for rule in rules)
    return "it wants the network, and the rule does not say so" if is_lacking else None


def _firmed(verdict: Verdict, call: Call) -> Verdict:
    """A change of a control file is asked about in every mode and whatever is allowed."""
    facts = call.facts
    if verdict.decision is Decision.DENY or facts.kind in READ_ONLY_KINDS:
        return verdict
    if facts.tool == MEMORY and facts.server is None:
        return verdict  # it writes one file and nothing else, and that file is why it exists
    why = control_file_of(call)
    return verdict if why is None else Verdict(Decision.ASK, verdict.rule, f"{why}.", firm=True)


def _auto_edited(verdict: Verdict, facts: Facts) -> Verdict:
    is_edit = facts.server is None and (facts.kind is Kind.EDIT or facts.tool == "web_fetch")
    is_default = verdict.rule is None or verdict.rule.tier is Tier.DEFAULT
    if verdict.decision is Decision.ALLOW or verdict.firm or not is_edit or not is_default:
        return verdict
    if facts.wants_network and not (verdict.rule and verdict.rule.network):
        return verdict
    return Verdict(Decision.ALLOW, None, "Mode auto_edit allows edits.")


def _planned(verdict: Verdict, call: Call) -> Verdict:
    facts = call.facts
    if facts.kind in READ_ONLY_KINDS:
        return verdict
    line = facts.line
    if line is None:
        return Verdict(Decision.DENY, None, "Plan mode only reads.")
    changing = next((command for command, effects in call.effects.items() if not effects.is_read_only), None)
    if not line.is_plain or changing is not None or not line.commands:
        what = f"it is not known that {changing.name} does so" if changing else "it is not known what this line does"
        return Verdict(Decision.DENY, None, f"Plan mode only reads, and {what}.")
    if verdict.decision is Decision.ASK:
        return verdict
    return Verdict(Decision.ASK, verdict.rule, "Plan mode asks before every command.")
