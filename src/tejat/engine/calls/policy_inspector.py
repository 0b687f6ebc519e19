"""Inspection of the policy for `tejat policy`, with the rules, facts and decisions of a run."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from tejat.config.paths import AppPaths, SourceTier
from tejat.config.saved_rules import read_saved_rules, revoke_all_rules, revoke_rule
from tejat.config.settings.types import Settings
from tejat.core.agent.subagents import SubagentDefinition
from tejat.core.approval.policy_report import PolicyCaseResult, PolicyExplanation, RuleListing
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import join_lazy, lazy
from tejat.core.messages.types import Params
from tejat.core.tools.base import BaseTool
from tejat.engine.calls.approval.auto_allow import SANDBOXED_ID, SANDBOXED_TEXT, switch_off_sandboxed
from tejat.engine.calls.permission import Permission
from tejat.engine.subagents.rights import AgentIdentity, AgentPermission
from tejat.engine.subagents.tool_view import is_available
from tejat.policy.effects.command import command_effects
from tejat.policy.engine import SANDBOXED_SETTING, PolicyEngine
from tejat.policy.rules.case_file import run_cases
from tejat.policy.rules.rule_file import parse_rules
from tejat.policy.rules.rule_format import format_rule
from tejat.policy.shell.command_line import ShellCommand
from tejat.policy.types import CallFacts, Decision, PolicyRule, PolicyVerdict, SandboxedCommands, Tier
from tejat.tools.registry import ToolRegistry


class PolicyContext(Frozen):
    """The settings, tools and permissions of a run. `find_agent` finds a sub-agent by its name."""

    settings: Settings
    registry: ToolRegistry
    permission: Permission
    find_agent: Callable[[str], SubagentDefinition | None] = lambda _: None


class PolicyInspector:
    """Answers `tejat policy`. The rules are loaded on first use: revoking a rule needs none."""

    def __init__(self, paths: AppPaths, open_context: Callable[[], PolicyContext]) -> None:
        self._paths = paths
        self._open_context = open_context

    @cached_property
    def _context(self) -> PolicyContext:
        return self._open_context()

    def decide(self, tool: str, arguments: Params, *, subagent: str = "") -> PolicyExplanation:
        """Decide a call, of a sub-agent if one is named. Raises UsageError for an unknown tool or agent."""
        if subagent:
            return self._decide_for_agent(tool, arguments, subagent)
        return self._build_explanation(*self._decide(tool, arguments))

    def _decide_for_agent(self, tool: str, arguments: Params, name: str) -> PolicyExplanation:
        context = self._context
        definition = context.find_agent(name)
        if definition is None:
            raise UsageError(lazy("Agent '{name}' not found.", name=name))
        found, entry = self._find_tool(tool), context.registry.entry(tool)
        if entry is None or not is_available(entry, definition):
            reason = lazy("The tool is not available to this agent.")
            source = definition.provenance.path or definition.qualified_name
            mode, mode_source = self.mode
            return PolicyExplanation(Decision.DENY.value, None, source, reason, mode=mode, mode_source=mode_source)
        permission = AgentPermission(context.permission, AgentIdentity("", "", definition), None)
        facts, verdict = permission.decide(found, arguments)
        return self._build_explanation(facts, verdict, permission.policy)

    def argument_type(self, tool: str, argument: str) -> str | None:
        known = self._context.registry.get(tool)
        return None if known is None else known.argument_type(argument)

    def rules(self) -> Sequence[RuleListing]:
        ids = {f"{self._paths.saved_rules}:{rule.line}": rule.id for rule in read_saved_rules(self._paths)}
        policy = self._context.permission.policy
        rules = sorted(policy.rules, key=lambda rule: -rule.tier)
        return [
            *self._sandboxed_setting(policy.sandboxed),
            *(
                RuleListing(
                    _TIERS[rule.tier],
                    format_rule(rule),
                    rule.source,
                    ids.get(rule.source),
                    reason_against(rule) or rule.note or _remark(rule),
                    rule.description,
                )
                for rule in rules
            ),
        ]

    def _sandboxed_setting(self, sandboxed: SandboxedCommands) -> Iterator[RuleListing]:
        """Yield the setting for sandboxed commands as a rule if it is on, also if it does not count here."""
        setting = self._context.settings.auto_allow_sandboxed
        if setting.value:
            tier = Tier.USER if setting.tier is SourceTier.USER else Tier.ADMIN
            rule_id = SANDBOXED_ID if tier is Tier.USER else None
            source = f"{setting.source} ({SANDBOXED_SETTING})"
            yield RuleListing(_TIERS[tier], SANDBOXED_TEXT, source, rule_id, sandboxed.refusal or None)

    @property
    def mode(self) -> tuple[str, str]:
        """The approval mode, and who chose it."""
        policy = self._context.permission.policy
        return policy.mode.value, policy.mode_source

    def problems(self) -> Sequence[str]:
        return [
            lazy("{path}: the folder is not trusted, so only its exclude lists apply", path=path)
            for path in self._context.settings.ignored_files
        ]

    def revoke(self, which: str) -> str:
        if which == SANDBOXED_ID and switch_off_sandboxed(self._paths):
            return SANDBOXED_TEXT
        return _rule_summary(revoke_rule(self._paths, which))

    def revoke_all(self) -> Sequence[str]:
        revoked = [_rule_summary(toml) for toml in revoke_all_rules(self._paths)]
        if switch_off_sandboxed(self._paths):
            revoked.append(SANDBOXED_TEXT)
        return revoked

    def check(self, text: str, source: str) -> Sequence[PolicyCaseResult]:
        """Judge the cases of a file. Raises UsageError for an invalid one."""
        facts: list[CallFacts] = []

        def decide(tool: str, arguments: Mapping[str, object]) -> PolicyVerdict:
            found, verdict = self._decide(tool, arguments)
            facts.append(found)
            return verdict

        return [
            PolicyCaseResult(
                source=case.source,
                call=f"{case.tool} {json.dumps(case.arguments, ensure_ascii=False, default=str)}",
                expected=case.expected.value if case.problem is None else case.problem,
                actual=self._build_explanation(known, case.verdict),
                passed=case.passed,
            )
            for case, known in zip(run_cases(text, decide, source=source), facts, strict=True)
        ]

    def _decide(self, name: str, arguments: Params) -> tuple[CallFacts, PolicyVerdict]:
        return self._context.permission.decide(self._find_tool(name), arguments)

    def _find_tool(self, name: str) -> BaseTool:
        tool = self._context.registry.get(name)
        if tool is None:
            raise UsageError(lazy('Unknown tool "{name}". List the tools with `tejat tools list`.', name=name))
        return tool

    def _build_explanation(
        self, facts: CallFacts, verdict: PolicyVerdict, policy: PolicyEngine | None = None
    ) -> PolicyExplanation:
        line = facts.line
        policy = policy or self._context.permission.policy
        mode, mode_source = policy.mode.value, policy.mode_source
        return PolicyExplanation(
            decision=verdict.decision.value,
            rule=None if verdict.rule is None else format_rule(verdict.rule),
            source=verdict.source,
            reason=verdict.reason,
            commands=() if line is None else tuple(map(_describe, line.commands)),
            doubts=() if line is None else line.doubts,
            scripts=tuple(f"{script.path} ({script.qualified_name})" for script in facts.skill_scripts),
            mode=mode,
            mode_source=mode_source,
        )


_TIERS = {
    Tier.DEFAULT: lazy("default"),
    Tier.EXTENSION: lazy("extension"),
    Tier.WORKSPACE: lazy("workspace"),
    Tier.USER: lazy("user"),
    Tier.ADMIN: lazy("admin"),
}


def reason_against(rule: PolicyRule) -> str | None:
    """Return why a rule does not count, None if it does."""
    if rule.tier is Tier.WORKSPACE and rule.decision is Decision.ALLOW:
        return lazy("workspace rules can only restrict")
    if rule.tier is Tier.EXTENSION and rule.decision is Decision.ALLOW:
        return lazy("rules of an extension can only restrict")
    return rule.passed_over


def _remark(rule: PolicyRule) -> str | None:
    """Return what follows from a rule that allows something to one agent, or scripts of a skill."""
    if rule.decision is not Decision.ALLOW:
        return None
    if rule.subagent is not None:
        return lazy("the whole session can reach this through the agent {agent}", agent=rule.subagent)
    return None if rule.skill is None else lazy("only while all files of the skill are as you agreed to")


def rule_problems(rules: Iterable[PolicyRule]) -> Iterator[str]:
    """Yield a line for each rule that does not count, or not as its file says."""
    for rule in rules:
        why = reason_against(rule)
        if why is not None:
            yield lazy("{source}: ignored: {why}", source=rule.source, why=why)
        elif rule.note is not None:
            yield lazy("{source}: {note}", source=rule.source, note=rule.note)


def _describe(command: ShellCommand) -> str:
    """Describe a command and its effects for `tejat policy explain`."""
    effects = command_effects(command.words)
    known = [*effects.destroys, *effects.writes, *effects.runs_code]
    behind = [lazy("run through {wrappers}", wrappers=" ".join(command.wrappers))] if command.wrappers else []
    description = join_lazy("; ", [*behind, *(known or ([lazy("only reads")] if effects.is_read_only else []))])
    text = " ".join(command.words)
    return join_lazy("", (text, "  (", description, ")")) if description else text


def _rule_summary(toml: str) -> str:
    return join_lazy("; ", (format_rule(rule) for rule in parse_rules(toml, source="saved", tier=Tier.USER)))
