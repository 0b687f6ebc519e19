"""The decision: may this call run, must a person be asked, or is it forbidden?"""

from collections.abc import Callable, Sequence

from tejat.core.tool import READ_ONLY_KINDS, Kind
from tejat.core.value import replace
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.policy.call import Call
from tejat.policy.defaults import default_rules
from tejat.policy.findings import Finding
from tejat.policy.judge import Judge
from tejat.policy.matching import is_for_project, is_in_force, names_tool
from tejat.policy.rule_text import quoted_rule
from tejat.policy.rules import Decision, Facts, Mode, Rule, Tier, Verdict
from tejat.policy.tool_names import MEMORY

_LONGEST_ERROR = 200


class Policy:
    """All rules that count, in one mode. It never changes: a new rule or mode makes a new policy."""

    def __init__(self, rules: Sequence[Rule], mode: Mode) -> None:
        self._given = tuple(rules)
        self.mode = mode
        self.rules: tuple[Rule, ...] = (*self._given, *default_rules())
        self.has_path_rules = any(rule.path is not None for rule in self.rules)
        self._in_force = tuple(rule for rule in self.rules if is_in_force(rule, mode))
        self._by_tool: dict[tuple[str, str | None], tuple[Rule, ...]] = {}

    def with_rule(self, rule: Rule) -> "Policy":
        return Policy((*self._given, rule), self.mode)

    def without(self, is_gone: Callable[[Rule], bool]) -> "Policy":
        """Without those of the given rules; what the program itself says stays."""
        return Policy([rule for rule in self._given if not is_gone(rule)], self.mode)

    def in_mode(self, mode: Mode) -> "Policy":
        return Policy(self._given, mode)

    def hides(self, tool: str, server: str | None = None) -> bool:
        """Whether the tool is forbidden whatever its arguments are, so that a model need not know of it."""
        return any(
            rule.decision is Decision.DENY and not rule.is_restricted and rule.project is None
            for rule in self._rules_for(tool, server)
        )

    def decide(self, facts: Facts) -> Verdict:
        """Never raises: what cannot be judged is asked, or forbidden where asking could be skipped."""
        try:
            return self._verdict(_judge(facts))
        except Exception as error:  # noqa: BLE001 -- no error here may let a call through
            return self._unjudged(facts, error)

    def _verdict(self, judge: Judge) -> Verdict:
        facts = judge.call.facts
        findings = judge.findings(self._rules_for(facts.tool, facts.server))
        strictest = max(findings, key=lambda finding: finding.weight)
        verdict = self._in_this_mode(_firmed(strictest.verdict(), judge.call), judge)
        if verdict.decision is not Decision.ASK or verdict.firm or self.mode is Mode.PLAN:
            return verdict
        return replace(verdict, offer=self._offer(judge, findings))

    def _rules_for(self, tool: str, server: str | None) -> tuple[Rule, ...]:
        rules = self._by_tool.get((tool, server))
        if rules is None:
            rules = tuple(rule for rule in self._in_force if names_tool(rule, tool, server))
            self._by_tool[tool, server] = rules
        return rules

    def _in_this_mode(self, verdict: Verdict, judge: Judge) -> Verdict:
        if verdict.decision is Decision.DENY:
            return verdict
        match self.mode:
            case Mode.DEFAULT:
                return verdict
            case Mode.AUTO_EDIT:
                return _auto_edited(verdict, judge.call.facts)
            case Mode.YOLO:
                return self._without_asking(verdict, judge.call.facts)
            case Mode.PLAN:
                return _planned(verdict, judge)

    def _without_asking(self, verdict: Verdict, facts: Facts) -> Verdict:
        """What asks is allowed, unless a rule might forbid it if only the line could be read."""
        is_opaque = facts.line is not None and facts.line.is_opaque
        unchecked = self._restricted_denial(facts) if is_opaque else None
        if unchecked is not None:
            reason = phrase(
                "The line hides what it runs, so the rule {rule} cannot be checked.", rule=quoted_rule(unchecked)
            )
            return Verdict(Decision.DENY, unchecked, reason)
        if verdict.decision is Decision.ALLOW or verdict.firm:
            return verdict
        return Verdict(Decision.ALLOW, None, phrase("Mode yolo allows what would be asked."))

    def _restricted_denial(self, facts: Facts) -> Rule | None:
        """A rule that forbids some calls of this tool."""
        rules = self._rules_for(facts.tool, facts.server)
        denials = (rule for rule in rules if rule.decision is Decision.DENY and rule.is_restricted)
        return next((rule for rule in denials if is_for_project(rule, facts.roots)), None)

    def _offer(self, judge: Judge, findings: Sequence[Finding]) -> Rule | None:
        """The rule for an "always", if the call would then not be asked about again."""
        offer = judge.offer(findings)
        if offer is None:
            return None
        facts = judge.call.facts
        with_offer = judge.findings((*self._rules_for(facts.tool, facts.server), offer))
        return offer if all(finding.is_allowed for finding in with_offer) else None

    def _unjudged(self, facts: Facts, error: Exception) -> Verdict:
        why = visible(f"{type(error).__name__}: {error}")[:_LONGEST_ERROR]
        if self.mode is Mode.PLAN and facts.kind not in READ_ONLY_KINDS:
            reason = phrase("The policy could not judge this call ({why}), and plan mode only reads.", why=why)
            return Verdict(Decision.DENY, None, reason)
        unchecked = self._restricted_denial(facts) if self.mode is Mode.YOLO else None
        if unchecked is not None:
            reason = phrase(
                "The policy could not judge this call ({why}), so the rule {rule} cannot be checked.",
                why=why,
                rule=quoted_rule(unchecked),
            )
            return Verdict(Decision.DENY, unchecked, reason)
        return Verdict(Decision.ASK, None, phrase("The policy could not judge this call ({why}).", why=why), firm=True)


def _judge(facts: Facts) -> Judge:
    if facts.line is None:
        return Judge(Call(facts))
    from tejat.policy.shell_call import ShellCall
    from tejat.policy.shell_judge import ShellJudge

    return ShellJudge(ShellCall(facts, facts.line))


def _firmed(verdict: Verdict, call: Call) -> Verdict:
    """A change of a control file, or a tool that has become another one, is asked about whatever is allowed."""
    facts = call.facts
    if verdict.decision is Decision.DENY:
        return verdict
    if facts.has_changed:
        why = phrase("The server describes this tool in other words than when it was last allowed. Look at it again.")
        return Verdict(Decision.ASK, verdict.rule, why, firm=True)
    if facts.kind in READ_ONLY_KINDS:
        return verdict
    if facts.tool == MEMORY and facts.server is None:
        return verdict  # it writes one file and nothing else, and that file is why it exists
    why = call.control_file()
    return verdict if why is None else Verdict(Decision.ASK, verdict.rule, phrase("{why}.", why=why), firm=True)


def _auto_edited(verdict: Verdict, facts: Facts) -> Verdict:
    is_edit = facts.server is None and (facts.kind is Kind.EDIT or facts.tool == "web_fetch")
    is_default = verdict.rule is None or verdict.rule.tier is Tier.DEFAULT
    if verdict.decision is Decision.ALLOW or verdict.firm or not is_edit or not is_default:
        return verdict
    if facts.wants_network and not (verdict.rule and verdict.rule.network):
        return verdict
    return Verdict(Decision.ALLOW, None, phrase("Mode auto_edit allows edits."))


def _planned(verdict: Verdict, judge: Judge) -> Verdict:
    if judge.call.facts.kind in READ_ONLY_KINDS:
        return verdict
    objection = judge.objection_in_plan_mode()
    if objection is not None:
        return Verdict(Decision.DENY, None, phrase("Plan mode only reads, and {objection}.", objection=objection))
    if verdict.decision is Decision.ASK:
        return verdict
    return Verdict(Decision.ASK, verdict.rule, phrase("Plan mode asks before every command."))
