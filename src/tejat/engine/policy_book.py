"""The rules of a run from everywhere they may stand, and what a person can ask about them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tejat.config.places import Places, SourceTier
from tejat.config.policy_files import PolicyText, policy_texts
from tejat.config.settings import Setting, Settings
from tejat.core.confirm import Scope
from tejat.core.errors import UsageError
from tejat.core.explain import CheckedCase, Explanation, ListedRule, PolicyFlags
from tejat.core.types import Params
from tejat.engine.permission import Permission
from tejat.policy.command_line import Command
from tejat.policy.engine import Policy
from tejat.policy.rule_text import rule_text, rule_toml
from tejat.policy.rules import Decision, Facts, Mode, Rule, Tier, Verdict
from tejat.tools.registry import ToolRegistry

_TIERS = {SourceTier.ADMIN: Tier.ADMIN, SourceTier.USER: Tier.USER, SourceTier.WORKSPACE: Tier.WORKSPACE}


def load_policy(places: Places, settings: Settings, flags: PolicyFlags) -> Policy:
    """Every rule that holds for this run. Raises UsageError that names the file and line of one that cannot be used."""
    rules = [rule for text in policy_texts(places, flags.roots) for rule in _rules_in(text)]
    if flags.allowed_tools or any(_lists(settings)):
        rules += _rules_of_lists(settings, flags.allowed_tools)
    return Policy(rules, _mode(settings, flags.mode))


def save_rule(places: Places, root: str, rule: Rule, scope: Scope) -> None:
    """Keep an answer for later sessions. Raises UsageError when that is not possible."""
    from tejat.config.saved_rules import save

    save(places, rule_toml(replace(rule, project=root) if scope is Scope.PROJECT else rule))


class PolicyBook:
    """What `tejat policy` asks: the same rules, facts and decisions as in a run."""

    def __init__(self, places: Places, settings: Settings, registry: ToolRegistry, permission: Permission) -> None:
        self._places = places
        self._settings = settings
        self._registry = registry
        self._permission = permission

    def decide(self, tool: str, arguments: Params) -> Explanation:
        """Raises UsageError for a tool that nobody knows."""
        facts, verdict = self._judge(tool, arguments)
        return _explanation(facts, verdict)

    def argument_type(self, tool: str, argument: str) -> str | None:
        known = self._registry.get(tool)
        return None if known is None else known.argument_type(argument)

    def rules(self) -> Sequence[ListedRule]:
        ids = self._saved_ids()
        ordered = sorted(self._permission.policy.rules, key=lambda rule: -rule.tier)
        return [
            ListedRule(rule.tier.name.lower(), rule_text(rule), rule.source, ids.get(rule.source)) for rule in ordered
        ]

    def problems(self) -> Sequence[str]:
        told = [
            f"{path}: this folder is not trusted, so only what it excludes counts" for path in self._settings.ignored
        ]
        void = [
            f"{rule.source}: a rule in the workspace can only tighten, so this one is passed over"
            for rule in self._permission.policy.rules
            if rule.tier is Tier.WORKSPACE and rule.decision is Decision.ALLOW
        ]
        return [*told, *void]

    def revoke(self, which: str) -> str:
        from tejat.config.saved_rules import revoke

        return _in_words(revoke(self._places, which))

    def revoke_all(self) -> Sequence[str]:
        from tejat.config.saved_rules import revoke_all

        return [_in_words(toml) for toml in revoke_all(self._places)]

    def check(self, text: str, source: str) -> Sequence[CheckedCase]:
        from tejat.policy.cases import check_cases

        facts: list[Facts] = []

        def judge(tool: str, arguments: Mapping[str, object]) -> Verdict:
            found, verdict = self._judge(tool, arguments)
            facts.append(found)
            return verdict

        return [
            CheckedCase(
                source=case.source,
                call=f"{case.tool} {dict(case.arguments)}",
                expected=case.expected.value if case.problem is None else case.problem,
                found=_explanation(known, case.verdict),
                passed=case.is_as_expected,
            )
            for case, known in zip(check_cases(text, judge, source=source), facts, strict=True)
        ]

    def _judge(self, name: str, arguments: Params) -> tuple[Facts, Verdict]:
        tool = self._registry.get(name)
        if tool is None:
            raise UsageError(f'there is no tool "{name}". `tejat tools list` shows them')
        return self._permission.decide(tool, arguments)

    def _saved_ids(self) -> dict[str, str]:
        """The id of each saved rule by where it stands."""
        from tejat.config.saved_rules import saved_path, saved_rules

        path = saved_path(self._places)
        return {f"{path}:{rule.line}": rule.id for rule in saved_rules(self._places)}


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
    from tejat.policy.effects import effects_of

    effects = effects_of(command.words)
    known = [*effects.destroys, *effects.writes, *effects.runs_code]
    behind = [f"behind {' '.join(command.via)}"] if command.via else []
    told = "; ".join([*behind, *(known or (["only reads"] if effects.is_read_only else []))])
    words = " ".join(command.words)
    return f"{words}  ({told})" if told else words


def _rules_in(text: PolicyText) -> list[Rule]:
    from tejat.policy.rule_file import rules_in

    return rules_in(text.text, source=text.path, tier=_TIERS[text.tier])


def _lists(settings: Settings) -> Sequence[object]:
    return settings.core, settings.allowed, settings.exclude, settings.mcp_allowed, settings.mcp_excluded


def _rules_of_lists(settings: Settings, allowed: Sequence[str]) -> list[Rule]:
    """The lists of the settings as rules, each with the place that it was read from."""
    from tejat.policy.settings_rules import ToolLists, rules_of_allowed, rules_of_settings

    lists: list[tuple[Setting[object], ToolLists]] = []
    if settings.core:
        lists.append((settings.core, ToolLists(core=settings.core.value)))
    if settings.allowed:
        lists.append((settings.allowed, ToolLists(allowed=settings.allowed.value)))
    if settings.mcp_allowed:
        lists.append((settings.mcp_allowed, ToolLists(mcp_allowed=settings.mcp_allowed.value)))
    lists += [(entry, ToolLists(exclude=(entry.value,))) for entry in settings.exclude]
    lists += [(entry, ToolLists(mcp_excluded=(entry.value,))) for entry in settings.mcp_excluded]
    rules = [
        rule
        for setting, named in lists
        for rule in rules_of_settings(named, tier=_TIERS[setting.tier], source=setting.source)
    ]
    return [*rules, *rules_of_allowed(allowed)]


def _mode(settings: Settings, given: str | None) -> Mode:
    mode = Mode(given or Mode.DEFAULT.value)
    if mode is Mode.YOLO and settings.yolo_disabled.value:
        raise UsageError(f"The mode yolo is switched off by {settings.yolo_disabled.source}.")
    return mode


def _in_words(toml: str) -> str:
    from tejat.policy.rule_file import rules_in

    return "; ".join(rule_text(rule) for rule in rules_in(toml, source="saved", tier=Tier.USER))
