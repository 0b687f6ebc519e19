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
from tejat.policy.evaluation.skill_scripts import find_started_script, names_script
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
                if self._applies_to(rule, command):
                    matching.append(rule)
                continue
            found_gap = find_coverage_gap(rule, command, self._shell_call, self._assessment)
            if found_gap is None:
                matching.append(rule)
            elif self._applies_to(rule, command):
                gap = found_gap
        return select_rule(matching, gap=gap, command=command)

    def _applies_to(self, rule: PolicyRule, command: ShellCommand) -> bool:
        if rule.skill is not None:
            return names_script(rule, command, self._shell_call)
        return command_matches_rule(command, rule, self._shell_call.line)

    def suggest_rules(self, rule_matches: Sequence[RuleMatch]) -> tuple[PolicyRule, ...] | str:
        """Return a rule for each command that none covers yet; for a script of a skill, one for its scripts."""
        uncovered = [match.command for match in rule_matches if match.command and not match.is_allowed]
        rule = self._tool_rule()
        if rule is None:
            return suggest_prefixes(uncovered, self._shell_call).refusal
        scripts: dict[PolicyRule, None] = {}
        others: list[ShellCommand] = []
        for command in uncovered:
            script = find_started_script(command, self._shell_call)
            if script is None:
                others.append(command)
                continue
            # A rule for its path would cover whatever the file contains later.
            for_skill = replace(rule, skill=script.qualified_name)
            gap = find_coverage_gap(for_skill, command, self._shell_call, self._assessment)
            if gap is not None:
                return gap
            scripts[for_skill] = None
        if scripts and not others:
            return tuple(scripts)
        found = suggest_prefixes(others, self._shell_call)
        prefixes = tuple(replace(rule, command=prefix) for prefix in found.prefixes)
        return (*scripts, *prefixes) if prefixes else found.refusal

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
