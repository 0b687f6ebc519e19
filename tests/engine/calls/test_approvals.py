"""What was answered with "always", listed and taken back."""

from pathlib import Path

import pytest

from support.note_tool import NoteTool, open_scheduler
from tejat.config.paths import AppPaths, app_paths
from tejat.core.approval.confirmation import Scope
from tejat.core.errors import UsageError
from tejat.core.frozen import replace
from tejat.engine.calls.approvals import remembered_approvals, revoke_approval
from tejat.engine.calls.permission import SESSION_SOURCE
from tejat.engine.calls.policy_loader import save_answer
from tejat.policy.types import Decision, PolicyRule, Tier

RULE = PolicyRule(Decision.ALLOW, Tier.USER, SESSION_SOURCE, tool="note")
OTHER = PolicyRule(Decision.DENY, Tier.ADMIN, "/etc/rules.toml:1", tool="note")


@pytest.fixture
def places(tmp_path: Path) -> AppPaths:
    return app_paths({"HOME": str(tmp_path / "home")})


def listed(places: AppPaths, directory: Path, *rules: PolicyRule) -> list[tuple[str, str, bool]]:
    with open_scheduler(directory, [NoteTool()], None, rules=rules) as scheduler:
        return [
            (each.text, each.source, each.id is None) for each in remembered_approvals(places, scheduler.permission)
        ]


def test_those_that_are_saved_and_those_of_the_session(tmp_path: Path, places: AppPaths) -> None:
    save_answer(places, str(tmp_path), [replace(RULE, tool="glob")], Scope.USER)
    path = places.saved_rules
    assert listed(places, tmp_path, RULE, OTHER, replace(RULE, source="your answer (user)")) == [
        ("allow glob", f"{path}:4", False),
        ("allow note", SESSION_SOURCE, True),
    ]


@pytest.mark.parametrize("scope", [Scope.USER, Scope.PROJECT])
def test_a_saved_one_goes_from_the_file_and_from_the_rules(tmp_path: Path, places: AppPaths, scope: Scope) -> None:
    save_answer(places, str(tmp_path), [RULE], scope)
    as_answered = replace(RULE, source=f"your answer ({scope})")
    as_read = replace(RULE, source=f"{places.saved_rules}:4", project=str(tmp_path))
    with open_scheduler(tmp_path, [NoteTool()], None, rules=[as_answered, as_read, OTHER]) as scheduler:
        before = len(scheduler.permission.policy.rules)
        (answer,) = remembered_approvals(places, scheduler.permission)
        revoke_approval(places, scheduler.permission, answer)
        after = scheduler.permission.policy.rules
        assert len(after) == before - 2
        assert OTHER in after
        assert remembered_approvals(places, scheduler.permission) == []
        with pytest.raises(UsageError, match="Nothing was revoked"):
            revoke_approval(places, scheduler.permission, answer)


def test_one_of_the_session_leaves_the_same_rule_of_somebody_else(tmp_path: Path, places: AppPaths) -> None:
    by_hand = replace(RULE, source="/home/me/.gemini/policies/mine.toml:1")
    with open_scheduler(tmp_path, [NoteTool()], None, rules=[RULE, by_hand]) as scheduler:
        (answer,) = remembered_approvals(places, scheduler.permission)
        revoke_approval(places, scheduler.permission, answer)
        assert [rule for rule in scheduler.permission.policy.rules if rule.tool == "note"] == [by_hand]
