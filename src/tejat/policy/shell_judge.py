"""Holds the rules against every command of a shell line."""

from collections.abc import Iterable, Sequence

from tejat.core.value import replace
from tejat.core.words import phrase
from tejat.policy.command_line import Command
from tejat.policy.command_matching import is_meant_by
from tejat.policy.coverage import Shape, gap_in, shape_of
from tejat.policy.findings import Finding, finding_of
from tejat.policy.judge import Judge
from tejat.policy.offers import offered_prefix
from tejat.policy.rules import Decision, Rule
from tejat.policy.shell_call import ShellCall


class ShellJudge(Judge):
    def __init__(self, call: ShellCall) -> None:
        super().__init__(call)
        self._shell_call = call
        self._shape = shape_of(call)

    def findings(self, rules: Iterable[Rule]) -> list[Finding]:
        """What the rules say of each command, or of the line where none is to be seen in it."""
        meant = [rule for rule in rules if self.call.is_meant_by(rule)]
        commands = self._shell_call.line.commands
        if not commands:
            for_all = [rule for rule in meant if rule.decision is not Decision.ALLOW and rule.command is None]
            return [finding_of(for_all, gap=self._shape.doubt)]
        return [self._finding(meant, command, self._shape) for command in commands]

    def _finding(self, rules: Iterable[Rule], command: Command, shape: Shape) -> Finding:
        matching: list[Rule] = []
        gap = shape.doubt
        for rule in rules:
            if rule.decision is not Decision.ALLOW:
                if is_meant_by(command, rule, self._shell_call.line):
                    matching.append(rule)
                continue
            found = gap_in(rule, command, self._shell_call, shape)
            if found is None:
                matching.append(rule)
            elif is_meant_by(command, rule, self._shell_call.line):
                gap = found
        return finding_of(matching, gap=gap, command=command)

    def offer(self, findings: Sequence[Finding]) -> Rule | None:
        uncovered = [finding.command for finding in findings if finding.command and not finding.is_allowed]
        prefix = offered_prefix(uncovered, self._shell_call)
        rule = super().offer(findings)
        return None if rule is None or prefix is None else replace(rule, command=prefix)

    def objection_in_plan_mode(self) -> str | None:
        line = self._shell_call.line
        if not line.is_plain or not line.commands:
            return phrase("it is not known what this line does")
        effects = self._shell_call.effects
        changing = next((command for command in line.commands if not effects[command].is_read_only), None)
        return None if changing is None else phrase("it is not known that {name} only reads", name=changing.name)
