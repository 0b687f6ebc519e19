"""Approvals that the user answered with "always", for this session or saved."""

from collections.abc import Iterator, Sequence

from tejat.config.paths import AppPaths
from tejat.config.saved_rules import read_saved_rules, revoke_rule
from tejat.core.frozen import Frozen, replace
from tejat.engine.calls.approval.auto_allow import SANDBOXED_ID, SANDBOXED_TEXT, switch_off_sandboxed
from tejat.engine.calls.permission import ANSWER_SOURCE, SESSION_SOURCE, Permission
from tejat.policy.rules.rule_file import parse_rules
from tejat.policy.rules.rule_format import format_rule
from tejat.policy.types import NOT_SANDBOXED, PolicyRule, Tier


class RememberedApproval(Frozen):
    """A remembered rule and its source. `id` is that of a saved rule, None for one of this session.

    With SANDBOXED_ID it is the setting for sandboxed commands, which has no rules.
    """

    text: str
    source: str
    rules: tuple[PolicyRule, ...]
    id: str | None = None


def remembered_approvals(paths: AppPaths, permission: Permission) -> Sequence[RememberedApproval]:
    """List the saved approvals, then those of this session. Raises UsageError for an unreadable file."""
    path = paths.saved_rules
    saved = [
        RememberedApproval(
            text="; ".join(map(format_rule, rules)), source=f"{path}:{rule.line}", rules=tuple(rules), id=rule.id
        )
        for rule in read_saved_rules(paths)
        for rules in [parse_rules(rule.toml, source=path, tier=Tier.USER)]
    ]
    now = [
        RememberedApproval(format_rule(rule), rule.source, (rule,))
        for rule in permission.policy.rules
        if rule.source == SESSION_SOURCE
    ]
    return [*saved, *now, *_sandboxed_setting(paths, permission)]


def _sandboxed_setting(paths: AppPaths, permission: Permission) -> Iterator[RememberedApproval]:
    """Yield the setting for sandboxed commands if it is on in a file of the user."""
    source = permission.policy.sandboxed.source
    if source.startswith((paths.own_settings, paths.user_settings)):
        yield RememberedApproval(SANDBOXED_TEXT, source, (), SANDBOXED_ID)


def revoke_approval(paths: AppPaths, permission: Permission, answer: RememberedApproval) -> None:
    """Remove an approval from this session and the saved rules. Raises UsageError, and then changes nothing."""
    if answer.id == SANDBOXED_ID:
        switch_off_sandboxed(paths)
        permission.policy = permission.policy.with_sandboxed(NOT_SANDBOXED)
        return
    gone = set(map(_comparable, answer.rules))
    if answer.id is not None:
        revoke_rule(paths, answer.id)
    # A saved rule is in the policy as it was read from the file, or as it was answered: then without its project.
    own = f"{paths.saved_rules}:"
    permission.policy = permission.policy.without_rules(
        lambda rule: rule.source.startswith((own, ANSWER_SOURCE)) and _comparable(rule) in gone
    )


def _comparable(rule: PolicyRule) -> PolicyRule:
    return replace(rule, source="", project=None, tier=Tier.USER, passed_over=None)
