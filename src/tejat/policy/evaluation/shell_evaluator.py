"""Evaluation of rules against every command of a shell line."""

from collections.abc import Iterable, Sequence

from tejat.core.frozen import replace
from tejat.core.i18n import lazy
from tejat.policy.evaluation.command_match import command_matches_rule
from tejat.policy.evaluation.coverage import assess_line, find_coverage_gap
from tejat.policy.evaluation.evaluator import RuleEvaluator
from tejat.policy.evaluation.rule_match import RuleMatch, select_rule
from tejat.policy.evaluation.sandboxed import is_safe_in_sandbox
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.evaluation.suggestion import suggest_prefixes
from tejat.policy.evaluation.unchecked import find_unchecked
from tejat.policy.shell.command_line import ShellCommand
from tejat.policy.types import Decision, PolicyRule


class ShellRuleEvaluator(RuleEvaluator):
    def __init__(self, call: ShellCall) -> None:
        super().__init__(call)
        self._shell_call = call
        self._assessment = assess_line(call)

    def evaluate(self, rules: Iterable[PolicyRule]) -> list[RuleMatch]:
        """Return what the rules say about each command, or about the line if it has none."""
        applicable = [rule for rule in rules if self.call.matches_rule(rule)]
        commands = self._shell_call.line.commands
        if not commands:
            for_all = [rule for rule in applicable if rule.decision is not Decision.ALLOW and rule.command is None]
            return [select_rule(for_all, gap=self._assessment.doubt)]
        return [self._evaluate_command(applicable, command) for command in commands]

    def _evaluate_command(self, rules: Iterable[PolicyRule], command: ShellCommand) -> RuleMatch:
        matching: list[PolicyRule] = []
        gap = self._assessment.doubt
        for rule in rules:
            if rule.decision is not Decision.ALLOW:
                if command_matches_rule(command, rule, self._shell_call.line):
                    matching.append(rule)
                continue
            found_gap = find_coverage_gap(rule, command, self._shell_call, self._assessment)
            if found_gap is None:
                matching.append(rule)
            elif command_matches_rule(command, rule, self._shell_call.line):
                gap = found_gap
        return select_rule(matching, gap=gap, command=command)

    def suggest_rules(self, rule_matches: Sequence[RuleMatch]) -> tuple[PolicyRule, ...] | str:
        """Return a rule for each command that none covers yet."""
        uncovered = [match.command for match in rule_matches if match.command and not match.is_allowed]
        found = suggest_prefixes(uncovered, self._shell_call)
        rule = self._tool_rule()
        if rule is None or not found.prefixes:
            return found.refusal
        return tuple(replace(rule, command=prefix) for prefix in found.prefixes)

    def is_safe_in_sandbox(self, rule_matches: Sequence[RuleMatch]) -> bool:
        uncovered = [match.command for match in rule_matches if match.command and not match.is_allowed]
        return is_safe_in_sandbox(uncovered, self._shell_call, self._assessment)

    def find_unchecked(self, denials: Iterable[PolicyRule]) -> tuple[PolicyRule, str] | None:
        return find_unchecked(self._shell_call, denials)

    def plan_mode_objection(self) -> str | None:
        line = self._shell_call.line
        if not line.is_plain or not line.commands:
            return lazy("The effects of this command are unknown.")
        effects = self._shell_call.effects
        changing = next((command for command in line.commands if not effects[command].is_read_only), None)
        return None if changing is None else lazy("{name} may do more than read.", name=changing.name)
