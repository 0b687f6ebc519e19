"""The policy engine without indexes: every rule is compared with every command. The reference for the real one."""

import re
from collections.abc import Iterable, Iterator, Sequence

from tejat.policy.effects.foreign_code import find_foreign_code
from tejat.policy.effects.git import is_git_subcommand
from tejat.policy.engine import PolicyEngine
from tejat.policy.evaluation.call import Call
from tejat.policy.evaluation.command_match import command_matches_rule
from tejat.policy.evaluation.coverage import assess_line, find_coverage_gap
from tejat.policy.evaluation.evaluator import RuleEvaluator
from tejat.policy.evaluation.rule_index import RuleIndex, RuleTables
from tejat.policy.evaluation.rule_match import RuleMatch, select_rule
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.evaluation.shell_evaluator import ShellRuleEvaluator
from tejat.policy.evaluation.skill_scripts import names_script
from tejat.policy.evaluation.unchecked import KNOWN_PROGRAMS, find_written_and_run, runs_in_container
from tejat.policy.rules.matcher import is_active, matches_caller, matches_project
from tejat.policy.shell.command_line import ShellCommand
from tejat.policy.shell.wrapper_options import WRAPPERS
from tejat.policy.shell.wrappers import base_name, is_wrapper
from tejat.policy.types import CallFacts, Decision, PolicyRule, PolicyVerdict

_TOKEN = re.compile(r"[\w.+/@-]+")
_COMPUTED = re.compile(r"[$`]")


class LinearEngine(PolicyEngine):
    """Decides as `PolicyEngine` does, in time that grows with rules times commands."""

    def decide(self, facts: CallFacts) -> PolicyVerdict:
        try:
            if facts.line is None:
                return self._evaluate(LinearEvaluator(Call(facts)))
            return self._evaluate(LinearShellEvaluator(ShellCall(facts, facts.line)))
        except Exception as error:  # noqa: BLE001 -- as the real one
            return self._error_verdict(facts, error)

    def _rules_for(self, facts: CallFacts) -> RuleIndex:
        active = [rule for rule in self.rules if is_active(rule, self.mode, is_interactive=self._is_interactive)]
        callers = [rule for rule in active if matches_caller(rule, facts)]
        return LinearIndex(rule for rule in callers if matches_project(rule, facts.roots))


class LinearIndex(RuleIndex):
    def applicable(self, call: Call) -> list[PolicyRule]:
        return [rule for rule in self.rules if call.matches_rule(rule)]


class LinearEvaluator(RuleEvaluator):
    """The evaluator of calls without a line, over all rules."""


class LinearShellEvaluator(ShellRuleEvaluator):
    """The evaluator of lines, with each rule and each command."""

    def __init__(self, call: ShellCall) -> None:
        super().__init__(call)
        self._line_call = call
        self._line = assess_line(call)

    def evaluate(self, index: RuleIndex, added: Sequence[PolicyRule] = ()) -> list[RuleMatch]:
        applicable = [rule for rule in (*index.rules, *added) if self.call.matches_rule(rule)]
        commands = self._line_call.line.commands
        if not commands:
            for_all = [rule for rule in applicable if rule.decision is not Decision.ALLOW and rule.command is None]
            return [select_rule(for_all, gap=self._line.doubt)]
        return [self._evaluate_command(applicable, command) for command in commands]

    def _evaluate_command(self, rules: Iterable[PolicyRule], command: ShellCommand) -> RuleMatch:
        matching: list[PolicyRule] = []
        gap = self._line.doubt
        for rule in rules:
            if rule.decision is not Decision.ALLOW:
                if self._is_about(rule, command):
                    matching.append(rule)
                continue
            found_gap = find_coverage_gap(rule, command, self._line_call, self._line)
            if found_gap is None:
                matching.append(rule)
            elif self._is_about(rule, command):
                gap = found_gap
        return select_rule(matching, gap=gap, command=command)

    def _is_about(self, rule: PolicyRule, command: ShellCommand) -> bool:
        if rule.skill is not None:
            return names_script(rule, command, self._line_call)
        return command_matches_rule(command, rule, self._line_call.line)

    def find_unchecked(self, rules: RuleTables) -> tuple[PolicyRule, str] | None:
        if not rules.rules:
            return None
        reason = next(_hidden_code(self._line_call), None)
        if reason is not None:
            return rules.rules[0], reason
        return next(_possible_runs(self._line_call, [rule for rule in rules.rules if rule.command]), None)


def _hidden_code(call: ShellCall) -> Iterator[str]:
    for command in call.line.commands:
        reason = find_foreign_code(command.words, is_plain=command.is_plain)
        if reason is not None:
            yield reason
        if base_name(command.name) == "git" and not is_git_subcommand(command.words):
            yield f"{' '.join(command.words[:2])} is a git alias or an external git program"
    yield from find_written_and_run(call)


def _possible_runs(call: ShellCall, rules: Sequence[PolicyRule]) -> Iterator[tuple[PolicyRule, str]]:
    writes_files = any(each.writes and not each.is_harmless for each in call.line.redirections)
    for command, effects in call.effects.items():
        program = base_name(command.name)
        is_known = (program in KNOWN_PROGRAMS or is_wrapper(program)) and not runs_in_container(command)
        for rule in rules:
            forbidden = base_name(rule.command[0] if rule.command else "")
            options = _wrapper_options(command, call)
            if any(base_name(word) == forbidden for word in options) or (
                not is_known and _mentions(command.words[1:], rule.command or ())
            ):
                yield rule, f"{program} may run {forbidden}"
            if (effects.writes or writes_files) and _names_program(command, forbidden):
                yield rule, f"{program} may copy or rename {forbidden}"


def _wrapper_options(command: ShellCommand, call: ShellCall) -> Sequence[str]:
    program = base_name(command.name)
    if program not in WRAPPERS:
        return ()
    inside = (*command.wrappers, program)
    lengths = [len(each.words) for each in call.line.commands if each.wrappers == inside]
    return command.words[1 : len(command.words) - max(lengths, default=0)]


def _mentions(words: Iterable[str], tokens: Sequence[str]) -> bool:
    found = [token for word in words for token in _TOKEN.findall(word)]
    names = {base_name(token).casefold() for token in found}
    return base_name(tokens[0]).casefold() in names and all(
        token in found for token in tokens[1:] if not token.startswith("-")
    )


def _names_program(command: ShellCommand, forbidden: str) -> bool:
    for word in command.words[1:]:
        if word.startswith(("/", "~")) and base_name(word) == forbidden:
            return True
        if not command.is_plain and _COMPUTED.search(word) and _mentions((word,), (forbidden,)):
            return True
    return False
