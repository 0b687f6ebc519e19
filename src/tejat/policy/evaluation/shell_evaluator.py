"""Evaluation of rules against every command of a shell line."""

from collections.abc import Iterator, Sequence

from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.policy.evaluation.command_index import CommandIndex
from tejat.policy.evaluation.command_match import command_matches_rule
from tejat.policy.evaluation.coverage import assess_line, find_coverage_gap
from tejat.policy.evaluation.evaluator import RuleEvaluator
from tejat.policy.evaluation.general_rules import GeneralRules, rank
from tejat.policy.evaluation.rule_index import RuleEntry, RuleIndex, RuleTables, is_general
from tejat.policy.evaluation.rule_match import RuleMatch
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
        self._evaluated: tuple[RuleIndex, dict[ShellCommand, _Outcome]] | None = None

    def evaluate(self, index: RuleIndex, added: Sequence[PolicyRule] = ()) -> list[RuleMatch]:
        """Return what the rules say about each distinct command, or about the line if it has none."""
        return list(self._matches(index, added))

    def find_uncovered(self, index: RuleIndex, added: Sequence[PolicyRule]) -> RuleMatch | None:
        return next((rule_match for rule_match in self._matches(index, added) if not rule_match.is_allowed), None)

    def _matches(self, index: RuleIndex, added: Sequence[PolicyRule]) -> Iterator[RuleMatch]:
        more = [entry for entry in enumerate(added, len(index.rules)) if self.call.matches_rule(entry[1])]
        if not self._shell_call.line.commands:
            yield self._evaluate_line(index, more)
            return
        if self._evaluated is None or self._evaluated[0] is not index:
            self._evaluated = index, self._evaluate_commands(index)
        for command, outcome in self._evaluated[1].items():
            changed = self._add(outcome, more, command) if more else outcome
            yield RuleMatch(changed.rule, changed.gap, command)

    def _evaluate_line(self, index: RuleIndex, added: Sequence[RuleEntry]) -> RuleMatch:
        entries = [*index.allowlists, *index.conditional_matches(self.call).items(), *added]
        entries += index.general
        for_all = [entry for entry in entries if entry[1].decision is not Decision.ALLOW and entry[1].command is None]
        found = max(for_all, key=lambda entry: rank(*entry), default=None)
        return RuleMatch(None if found is None else found[1], self._assessment.doubt)

    def _evaluate_commands(self, index: RuleIndex) -> dict[ShellCommand, "_Outcome"]:
        conditional = index.conditional_matches(self.call)
        general = index.table(_general_rules).with_rules(entry for entry in conditional.items() if is_general(entry[1]))
        by_command = index.table(CommandIndex)
        others = [entry for entry in conditional.items() if entry[1].command is None and not is_general(entry[1])]
        others += index.allowlists
        common = _Outcome(general.strictest, self._assessment.doubt, -1)
        is_common = common.gap is not None or not general.allowing
        outcomes: dict[ShellCommand, _Outcome] = {}
        for command in self._shell_call.effects:
            named = by_command.candidates(command)
            entries = others
            if named:
                applicable = [
                    each for each in named.items() if not index.is_conditional(each[0]) or each[0] in conditional
                ]
                entries = applicable + others
            outcome = common if is_common else self._evaluate_general(general, command)
            outcomes[command] = self._add(outcome, entries, command) if entries else outcome
        return outcomes

    def _evaluate_general(self, general: GeneralRules, command: ShellCommand) -> "_Outcome":
        found, gap, gap_position = general.strictest, None, -1
        for entry, last in general.allowing:
            reason = find_coverage_gap(entry[1], command, self._shell_call, self._assessment)
            if reason is None:
                found = entry if found is None or rank(*entry) > rank(*found) else found
            elif last > gap_position:
                gap, gap_position = reason, last
        return _Outcome(found, gap, gap_position)

    def _add(self, outcome: "_Outcome", entries: Sequence[RuleEntry], command: ShellCommand) -> "_Outcome":
        """Return the outcome for a command if these rules count too."""
        found, gap, gap_position = outcome.entry, outcome.gap, outcome.gap_position
        doubt = self._assessment.doubt
        for entry in entries:
            position, rule = entry
            if rule.decision is not Decision.ALLOW:
                applies = self._applies_to(rule, command)
            elif doubt:
                continue  # no rule could allow it
            else:
                reason = find_coverage_gap(rule, command, self._shell_call, self._assessment)
                applies = reason is None
                if reason is not None and position > gap_position and self._applies_to(rule, command):
                    gap, gap_position = reason, position
            if applies and (found is None or rank(*entry) > rank(*found)):
                found = entry
        return _Outcome(found, gap, gap_position)

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

    def find_unchecked(self, rules: RuleTables) -> tuple[PolicyRule, str] | None:
        return find_unchecked(self._shell_call, rules)

    def plan_mode_objection(self) -> str | None:
        line = self._shell_call.line
        if not line.is_plain or not line.commands:
            return lazy("The effects of this command are unknown.")
        effects = self._shell_call.effects
        changing = next((command for command in line.commands if not effects[command].is_read_only), None)
        return None if changing is None else lazy("{name} may do more than read.", name=changing.name)


def _general_rules(index: RuleIndex) -> GeneralRules:
    return GeneralRules(index.general)


class _Outcome(Frozen):
    """The rule that decides on a command with its position, and why the last rule that might allow it does not."""

    entry: RuleEntry | None
    gap: str | None
    gap_position: int

    @property
    def rule(self) -> PolicyRule | None:
        return None if self.entry is None else self.entry[1]
