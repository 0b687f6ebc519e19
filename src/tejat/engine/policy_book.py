"""What a person can ask about the rules: the same rules, facts and decisions as in a run."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from tejat.config.places import Places
from tejat.config.saved_rules import revoke, revoke_all, saved_path, saved_rules
from tejat.config.settings import Settings
from tejat.core.errors import UsageError
from tejat.core.explain import CheckedCase, Explanation, ListedRule
from tejat.core.types import Params
from tejat.core.value import value
from tejat.core.words import joined, phrase
from tejat.engine.permission import Permission
from tejat.policy.cases import check_cases
from tejat.policy.command_line import Command
from tejat.policy.effects import effects_of
from tejat.policy.rule_file import rules_in
from tejat.policy.rule_text import rule_text
from tejat.policy.rules import Decision, Facts, Tier, Verdict
from tejat.tools.registry import ToolRegistry


@value
class Judge:
    """Everything that a run decides with."""

    settings: Settings
    registry: ToolRegistry
    permission: Permission


class PolicyBook:
    """Answers what `tejat policy` asks. The rules are read when they are first needed: taking one back needs none."""

    def __init__(self, places: Places, open_judge: Callable[[], Judge]) -> None:
        self._places = places
        self._open_judge = open_judge

    @cached_property
    def _judge(self) -> Judge:
        return self._open_judge()

    def decide(self, tool: str, arguments: Params) -> Explanation:
        """Raises UsageError for a tool that nobody knows."""
        return _explanation(*self._decided(tool, arguments))

    def argument_type(self, tool: str, argument: str) -> str | None:
        known = self._judge.registry.get(tool)
        return None if known is None else known.argument_type(argument)

    def rules(self) -> Sequence[ListedRule]:
        ids = self._saved_ids()
        ordered = sorted(self._judge.permission.policy.rules, key=lambda rule: -rule.tier)
        return [ListedRule(_TIERS[rule.tier], rule_text(rule), rule.source, ids.get(rule.source)) for rule in ordered]

    def problems(self) -> Sequence[str]:
        untrusted = [
            phrase("{path}: this folder is not trusted, so only what it excludes counts", path=path)
            for path in self._judge.settings.ignored
        ]
        void = [
            phrase("{source}: a rule in the workspace can only tighten, so this one is passed over", source=rule.source)
            for rule in self._judge.permission.policy.rules
            if rule.tier is Tier.WORKSPACE and rule.decision is Decision.ALLOW
        ]
        return [*untrusted, *void]

    def revoke(self, which: str) -> str:
        return _in_words(revoke(self._places, which))

    def revoke_all(self) -> Sequence[str]:
        return [_in_words(toml) for toml in revoke_all(self._places)]

    def check(self, text: str, source: str) -> Sequence[CheckedCase]:
        facts: list[Facts] = []

        def decide(tool: str, arguments: Mapping[str, object]) -> Verdict:
            found, verdict = self._decided(tool, arguments)
            facts.append(found)
            return verdict

        return [
            CheckedCase(
                source=case.source,
                call=f"{case.tool} {json.dumps(case.arguments, ensure_ascii=False, default=str)}",
                expected=case.expected.value if case.problem is None else case.problem,
                found=_explanation(known, case.verdict),
                passed=case.is_as_expected,
            )
            for case, known in zip(check_cases(text, decide, source=source), facts, strict=True)
        ]

    def _decided(self, name: str, arguments: Params) -> tuple[Facts, Verdict]:
        tool = self._judge.registry.get(name)
        if tool is None:
            raise UsageError(phrase('there is no tool "{name}". `tejat tools list` shows them', name=name))
        return self._judge.permission.decide(tool, arguments)

    def _saved_ids(self) -> dict[str, str]:
        """The id of each saved rule by where it stands."""
        path = saved_path(self._places)
        return {f"{path}:{rule.line}": rule.id for rule in saved_rules(self._places)}


_TIERS = {
    Tier.DEFAULT: phrase("default"),
    Tier.WORKSPACE: phrase("workspace"),
    Tier.USER: phrase("user"),
    Tier.ADMIN: phrase("admin"),
}


def _explanation(facts: Facts, verdict: Verdict) -> Explanation:
    line = facts.line
    return Explanation(
        decision=verdict.decision.value,
        rule=None if verdict.rule is None else rule_text(verdict.rule),
        source=verdict.source,
        reason=verdict.reason,
        commands=() if line is None else tuple(map(_describe, line.commands)),
        doubts=() if line is None else line.doubts,
    )


def _describe(command: Command) -> str:
    """A command and what it does, for the tree that `explain` prints."""
    effects = effects_of(command.words)
    known = [*effects.destroys, *effects.writes, *effects.runs_code]
    behind = [phrase("behind {wrappers}", wrappers=" ".join(command.via))] if command.via else []
    told = joined("; ", [*behind, *(known or ([phrase("only reads")] if effects.is_read_only else []))])
    words = " ".join(command.words)
    return joined("", (words, "  (", told, ")")) if told else words


def _in_words(toml: str) -> str:
    return joined("; ", (rule_text(rule) for rule in rules_in(toml, source="saved", tier=Tier.USER)))
