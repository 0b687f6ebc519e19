"""Policy engine: decides whether a call may run, needs approval, or is forbidden."""

from collections.abc import Callable, Sequence

from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import replace
from tejat.core.i18n import join_lazy, lazy
from tejat.core.messages.declaration import READ_ONLY_KINDS, Kind
from tejat.core.sanitize import sanitize_text
from tejat.core.text.secret_files import is_secret_file
from tejat.policy.active_rules import ActiveRules
from tejat.policy.evaluation.call import Call
from tejat.policy.evaluation.evaluator import RuleEvaluator, suggest_path_rule
from tejat.policy.evaluation.rule_index import RuleIndex
from tejat.policy.evaluation.rule_match import RuleMatch
from tejat.policy.rules.rule_format import format_quoted_rule
from tejat.policy.rules.rule_list import RuleList
from tejat.policy.tool_names import MEMORY, PLAN_MODE_TOOLS
from tejat.policy.types import (
    NOT_SANDBOXED,
    CallFacts,
    Decision,
    PolicyRule,
    PolicyVerdict,
    SandboxedCommands,
    Tier,
)

SANDBOXED_SETTING = "tools.shell.autoAllowSandboxed"
"""The setting that lets sandboxed commands run without asking."""
DEFAULT_MODE_SOURCE = lazy("default")
_MAX_ERROR_LENGTH = 200
_READ_ONLY_HINT, _DESTRUCTIVE_HINT = "readOnlyHint", "destructiveHint"


class PolicyEngine:
    """All rules in one mode. Immutable: adding a rule or changing the mode makes a new engine.

    `mode_source` says who chose the mode. `is_interactive` means that there is a user to ask. `sandboxed` is the
    setting for sandboxed commands. `active` are the same rules in the same mode of another engine.
    """

    def __init__(
        self,
        rules: Sequence[PolicyRule],
        mode: ApprovalMode,
        *,
        mode_source: str = DEFAULT_MODE_SOURCE,
        is_interactive: bool = True,
        sandboxed: SandboxedCommands = NOT_SANDBOXED,
        active: ActiveRules | None = None,
    ) -> None:
        configured = rules if isinstance(rules, RuleList) else RuleList((tuple(rules),))
        self._active = active or ActiveRules(configured, mode, is_interactive=is_interactive)
        self.sandboxed = sandboxed
        self.mode = mode
        self.mode_source = mode_source
        self._is_interactive = is_interactive

    @property
    def rules(self) -> tuple[PolicyRule, ...]:
        """All rules, the built-in ones last."""
        return self._active.rules

    @property
    def representatives(self) -> tuple[PolicyRule, ...]:
        """One rule of each kind, as `RuleList` has them, and the built-in rules."""
        return self._active.representatives

    @property
    def rule_count(self) -> int:
        """About how many rules are configured."""
        return self._active.configured.table_count

    def with_rules(self, *rules: PolicyRule) -> "PolicyEngine":
        return self._with(RuleList((self._active.configured, rules)))

    def without_rules(self, is_removed: Callable[[PolicyRule], bool]) -> "PolicyEngine":
        """Return an engine without these configured rules; built-in rules stay."""
        return self._with([rule for rule in self._active.configured if not is_removed(rule)])

    def with_mode(self, mode: ApprovalMode, *, source: str) -> "PolicyEngine":
        return PolicyEngine(
            self._active.configured,
            mode,
            mode_source=source,
            is_interactive=self._is_interactive,
            sandboxed=self.sandboxed,
        )

    def with_sandboxed(self, sandboxed: SandboxedCommands) -> "PolicyEngine":
        """Return an engine with another setting for sandboxed commands."""
        return PolicyEngine(
            self._active.configured,
            self.mode,
            mode_source=self.mode_source,
            is_interactive=self._is_interactive,
            sandboxed=sandboxed,
            active=self._active,
        )

    def _with(self, rules: Sequence[PolicyRule]) -> "PolicyEngine":
        return PolicyEngine(
            rules,
            self.mode,
            mode_source=self.mode_source,
            is_interactive=self._is_interactive,
            sandboxed=self.sandboxed,
        )

    def can_offer_sandboxed(self, facts: CallFacts) -> bool:
        """Return whether this call would run without asking if the setting for sandboxed commands were on."""
        if not self.sandboxed.can_offer or facts.line is None:
            return False
        return self.with_sandboxed(SandboxedCommands("offer")).decide(facts).decision is Decision.ALLOW

    def hides(self, tool: str, server: str | None = None, subagent: str = "", *, has_plans: bool = False) -> bool:
        """Return whether the tool is forbidden with any arguments, so that the model need not know it.

        `subagent` is the qualified name of the agent whose model it is. `has_plans` means that there is a directory for
        plan files.
        """
        return self._active.hides(tool, server, subagent, has_plans=has_plans)

    def declares_read_only(self, facts: CallFacts) -> bool:
        """Return whether a rule of the user says that the MCP tool of a call only reads, whatever its arguments are.

        Such a rule allows tools by their annotation `readOnlyHint`, which counts for trusted servers alone. What a
        server claims without such a rule counts for nothing.
        """
        is_claimed = facts.hints.get(_READ_ONLY_HINT) is True and facts.hints.get(_DESTRUCTIVE_HINT) is not True
        if not is_claimed or facts.definition_changed:
            return False
        call = Call(facts)
        return any(_allows_readers(rule) and call.matches_rule(rule) for rule in self._rules_for(facts).with_hints)

    def decide(self, facts: CallFacts) -> PolicyVerdict:
        """Decide on a call. Never raises: on an error it asks, or denies where asking could be skipped."""
        try:
            return self._evaluate(_evaluator_for(facts))
        except Exception as error:  # noqa: BLE001 -- no error here may let a call through
            return self._error_verdict(facts, error)

    def _evaluate(self, evaluator: RuleEvaluator) -> PolicyVerdict:
        facts = evaluator.call.facts
        rule_matches = evaluator.evaluate(self._rules_for(facts))
        strictest = max(rule_matches, key=lambda rule_match: rule_match.precedence)
        verdict = _apply_forced_confirmation(strictest.verdict(), evaluator.call)
        verdict = self._apply_sandbox(verdict, evaluator, rule_matches)
        verdict = self._apply_mode(self._apply_unchecked_denials(verdict, evaluator), evaluator)
        verdict = self._apply_secret_files(verdict, evaluator.call, rule_matches)
        if verdict.decision is not Decision.ASK or verdict.always_ask:
            return verdict
        suggested = self._suggest_rules(evaluator, rule_matches, verdict)
        if isinstance(suggested, tuple):
            return replace(verdict, suggested_rules=suggested)
        # A gap in what rules cover is not given as the reason too.
        is_routine = verdict.is_routine or (strictest.is_built_in_question and strictest.coverage_gap == suggested)
        return replace(verdict, always_refusal=refuse_always(suggested), is_routine=is_routine)

    def _rules_for(self, facts: CallFacts) -> RuleIndex:
        return self._active.for_call(facts)

    def _apply_sandbox(
        self, verdict: PolicyVerdict, evaluator: RuleEvaluator, rule_matches: Sequence[RuleMatch]
    ) -> PolicyVerdict:
        """Allow what only the built-in rules would ask if the sandbox encloses it and the setting is on."""
        source = self.sandboxed.source
        is_asked = verdict.decision is Decision.ASK and not verdict.always_ask and is_built_in(verdict)
        if not source or not is_asked or not evaluator.is_safe_in_sandbox(rule_matches):
            return verdict
        reason = lazy("It runs in the sandbox, and {setting} allows such commands.", setting=SANDBOXED_SETTING)
        return PolicyVerdict(Decision.ALLOW, None, reason, setting=source)

    def _apply_unchecked_denials(self, verdict: PolicyVerdict, evaluator: RuleEvaluator) -> PolicyVerdict:
        """Ask in every mode about code that may run what a rule forbids, or what a rule asks about."""
        if verdict.decision is Decision.DENY or verdict.always_ask:
            return verdict
        facts = evaluator.call.facts
        rules = self._rules_for(facts)
        found = evaluator.find_unchecked(rules.restricted_denials)
        if found is None and (verdict.decision is Decision.ALLOW or self.mode is ApprovalMode.YOLO):
            found = evaluator.find_unchecked(rules.restricted_asks)
        if found is None:
            return verdict
        rule, why = found
        text = format_quoted_rule(rule)
        reason = lazy("{why}, so the rule {rule} cannot be checked.", why=why, rule=text)
        refusal = refuse_always(lazy("the rule {rule} cannot be checked", rule=text))
        return PolicyVerdict(Decision.ASK, rule, reason, always_ask=True, always_refusal=refusal)

    def _apply_mode(self, verdict: PolicyVerdict, evaluator: RuleEvaluator) -> PolicyVerdict:
        if verdict.decision is Decision.DENY:
            is_plan_rule = self.mode is ApprovalMode.PLAN and is_built_in(verdict)
            return replace(verdict, reason=plan_mode_refusal(evaluator.call.facts)) if is_plan_rule else verdict
        match self.mode:
            case ApprovalMode.DEFAULT:
                return verdict
            case ApprovalMode.AUTO_EDIT:
                return _apply_auto_edit_mode(verdict, evaluator.call.facts)
            case ApprovalMode.YOLO:
                return self._apply_yolo_mode(verdict, evaluator.call.facts)
            case ApprovalMode.PLAN:
                return _apply_plan_mode(verdict, evaluator)

    def _apply_yolo_mode(self, verdict: PolicyVerdict, facts: CallFacts) -> PolicyVerdict:
        """Allow what only the built-in rules would ask, unless the line is opaque and a rule might forbid it."""
        is_opaque = facts.line is not None and facts.line.is_opaque
        unchecked = self._rules_for(facts).restricted_denials.first if is_opaque else None
        if unchecked is not None:
            rule = format_quoted_rule(unchecked)
            reason = lazy("The command hides what it runs, so the rule {rule} cannot be checked.", rule=rule)
            return PolicyVerdict(Decision.DENY, unchecked, reason)
        if verdict.decision is Decision.ALLOW or verdict.always_ask or not is_built_in(verdict):
            return verdict
        asking = self._rules_for(facts).restricted_asks.first if is_opaque else None
        if asking is not None:
            rule = format_quoted_rule(asking)
            reason = lazy("The command hides what it runs, so the rule {rule} cannot be checked.", rule=rule)
            refusal = refuse_always(lazy("the rule {rule} cannot be checked", rule=rule))
            return PolicyVerdict(Decision.ASK, asking, reason, always_ask=True, always_refusal=refusal)
        return PolicyVerdict(Decision.ALLOW, None, lazy("YOLO mode allows it."))

    def _apply_secret_files(
        self, verdict: PolicyVerdict, call: Call, rule_matches: Sequence[RuleMatch]
    ) -> PolicyVerdict:
        """Ask before a file with secrets is shown to the model, unless a rule names such files or the mode is yolo."""
        facts = call.facts
        shows_files = facts.kind in READ_ONLY_KINDS or facts.kind is Kind.EXECUTE
        if verdict.decision is Decision.DENY or self.mode is ApprovalMode.YOLO or not shows_files:
            return verdict
        files = call.secret_files()
        if not files or verdict.always_ask:
            return verdict
        rules = [rule_match.rule for rule_match in rule_matches]
        if facts.line is None:  # a rule for the tool alone may hide one for the file
            rules += self._rules_for(facts).applicable(call)
        if verdict.decision is Decision.ALLOW and any(map(_allows_named_files, rules)):
            return verdict
        reason = lazy("{path} usually contains secrets, which the model would see.", path=files[0])
        suggestion = None if facts.kind is Kind.EXECUTE else suggest_path_rule(facts)
        refusal = "" if suggestion else refuse_always(lazy("files with secrets need approval each time"))
        rules = () if suggestion is None else (suggestion,)
        return PolicyVerdict(
            Decision.ASK, verdict.rule, reason, always_ask=True, suggested_rules=rules, always_refusal=refusal
        )

    def _suggest_rules(
        self, evaluator: RuleEvaluator, rule_matches: Sequence[RuleMatch], verdict: PolicyVerdict
    ) -> tuple[PolicyRule, ...] | str:
        """Return the rules for an "always", if they would prevent the same question, else why there are none."""
        if self.mode is ApprovalMode.PLAN:
            return lazy("plan mode asks before every command")
        if verdict.rule is not None and verdict.rule.tier is not Tier.DEFAULT:
            return lazy("the rule {rule} asks each time", rule=format_quoted_rule(verdict.rule))
        suggested = evaluator.suggest_rules(rule_matches)
        if isinstance(suggested, str):
            return suggested
        facts = evaluator.call.facts
        remaining = evaluator.find_uncovered(self._rules_for(facts), suggested)
        if remaining is None:
            return suggested
        return remaining.coverage_gap or lazy("no rule would cover the whole command")

    def _error_verdict(self, facts: CallFacts, error: Exception) -> PolicyVerdict:
        why = sanitize_text(f"{type(error).__name__}: {error}")[:_MAX_ERROR_LENGTH]
        if self.mode is ApprovalMode.PLAN and facts.kind not in READ_ONLY_KINDS:
            why = lazy("The policy could not evaluate this call ({why}).", why=why)
            reason = join_lazy(" ", (plan_mode_refusal(facts), why))
            return PolicyVerdict(Decision.DENY, None, reason)
        unchecked = self._rules_for(facts).restricted_denials.first if self.mode is ApprovalMode.YOLO else None
        if unchecked is not None:
            reason = lazy(
                "The policy could not evaluate this call ({why}), so the rule {rule} cannot be checked.",
                why=why,
                rule=format_quoted_rule(unchecked),
            )
            return PolicyVerdict(Decision.DENY, unchecked, reason)
        reason = lazy("The policy could not evaluate this call ({why}).", why=why)
        refusal = refuse_always(lazy("the policy could not evaluate this call"))
        return PolicyVerdict(Decision.ASK, None, reason, always_ask=True, always_refusal=refusal)


def _allows_readers(rule: PolicyRule) -> bool:
    """Return whether the rule allows tools that are annotated as reading, with any arguments."""
    is_for_readers = rule.hints is not None and (_READ_ONLY_HINT, True) in rule.hints
    conditions = (rule.command, rule.command_pattern, rule.arguments, rule.path)
    return is_for_readers and rule.decision is Decision.ALLOW and not any(part is not None for part in conditions)


def refuse_always(why: str) -> str:
    """Return the line that says why a question offers no "always"."""
    return lazy("Always is not offered: {why}.", why=why)


def _evaluator_for(facts: CallFacts) -> RuleEvaluator:
    if facts.line is None:
        return RuleEvaluator(Call(facts))
    from tejat.policy.evaluation.shell_call import ShellCall
    from tejat.policy.evaluation.shell_evaluator import ShellRuleEvaluator

    return ShellRuleEvaluator(ShellCall(facts, facts.line))


def _apply_forced_confirmation(verdict: PolicyVerdict, call: Call) -> PolicyVerdict:
    """Ask in any case about changes of control files and about tools whose definition changed."""
    facts = call.facts
    if verdict.decision is Decision.DENY:
        return verdict
    if facts.definition_changed:
        why = lazy("The server changed the description of this tool since you last allowed it. Check it again.")
        refusal = refuse_always(lazy("the tool has changed"))
        return PolicyVerdict(Decision.ASK, verdict.rule, why, always_ask=True, always_refusal=refusal)
    is_memory = facts.tool == MEMORY and facts.server is None  # it writes only its own file
    if facts.kind in READ_ONLY_KINDS or is_memory:
        return verdict
    why = call.control_file_warning()
    if why is None:
        return verdict
    refusal = refuse_always(lazy("changes to control files need approval each time"))
    return PolicyVerdict(Decision.ASK, verdict.rule, lazy("{why}.", why=why), always_ask=True, always_refusal=refusal)


def _allows_named_files(rule: PolicyRule | None) -> bool:
    """Return whether a rule allows certain files, not just the tool or the program."""
    if rule is None or rule.decision is not Decision.ALLOW:
        return False
    return rule.path is not None or rule.arguments is not None or any(map(is_secret_file, rule.command or ()))


def is_built_in(verdict: PolicyVerdict) -> bool:
    """Return whether no configured rule is behind the verdict. A mode lifts only what the built-in rules ask."""
    return verdict.rule is None or verdict.rule.tier is Tier.DEFAULT


def _apply_auto_edit_mode(verdict: PolicyVerdict, facts: CallFacts) -> PolicyVerdict:
    is_edit = facts.server is None and (facts.kind is Kind.EDIT or facts.tool == "web_fetch")
    if verdict.decision is Decision.ALLOW or verdict.always_ask or not is_edit or not is_built_in(verdict):
        return verdict
    if facts.wants_network and not (verdict.rule and verdict.rule.allows_network):
        return verdict
    return PolicyVerdict(Decision.ALLOW, None, lazy("Auto-edit mode allows edits."))


def plan_mode_refusal(facts: CallFacts) -> str:
    """Return what plan mode says to a call that may change something, and where plans can be written."""
    refusal = lazy("You are in Plan Mode and cannot modify source code.")
    if not facts.plan_directory:
        return refusal
    hint = lazy(
        "Only plans can be written: .md files directly in {directory}, with write_file or replace.",
        directory=facts.plan_directory,
    )
    return join_lazy(" ", (refusal, hint))


def _apply_plan_mode(verdict: PolicyVerdict, evaluator: RuleEvaluator) -> PolicyVerdict:
    facts = evaluator.call.facts
    # An agent is in plan mode itself.
    is_harmless = facts.kind is Kind.AGENT or facts.tool in PLAN_MODE_TOOLS
    if facts.kind in READ_ONLY_KINDS or (is_harmless and facts.server is None):
        return verdict
    if facts.plan_file:
        is_ours = verdict.decision is Decision.ASK and is_built_in(verdict)
        reason = lazy("Plan files can be written in plan mode.")
        return PolicyVerdict(Decision.ALLOW, None, reason) if is_ours else verdict
    if facts.server is not None:
        return verdict
    objection = evaluator.plan_mode_objection()
    if objection is not None:
        return PolicyVerdict(Decision.DENY, None, join_lazy(" ", (plan_mode_refusal(facts), objection)))
    if verdict.decision is Decision.ASK:
        return verdict
    return PolicyVerdict(Decision.ASK, verdict.rule, lazy("Plan mode asks before every command."))
