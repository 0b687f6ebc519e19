"""What was answered with "always", listed and taken back."""

from pathlib import Path

import pytest

from notes import Note, session
from tejat.config.places import Places, places_of
from tejat.config.saved_rules import saved_path
from tejat.core.confirm import Scope
from tejat.core.errors import UsageError
from tejat.core.value import replace
from tejat.engine.given_answers import given_answers, take_back
from tejat.engine.load_policy import save_rule
from tejat.engine.permission import FOR_SESSION
from tejat.policy.rules import Decision, Rule, Tier

RULE = Rule(Decision.ALLOW, Tier.USER, FOR_SESSION, tool="note")
OTHER = Rule(Decision.DENY, Tier.ADMIN, "/etc/rules.toml:1", tool="note")


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return places_of({"HOME": str(tmp_path / "home")})


def listed(places: Places, directory: Path, *rules: Rule) -> list[tuple[str, str, bool]]:
    with session(directory, [Note()], None, rules=rules) as scheduler:
        return [(each.text, each.source, each.id is None) for each in given_answers(places, scheduler.permission)]


def test_those_that_are_saved_and_those_of_the_session(tmp_path: Path, places: Places) -> None:
    save_rule(places, str(tmp_path), replace(RULE, tool="glob"), Scope.USER)
    path = saved_path(places)
    assert listed(places, tmp_path, RULE, OTHER, replace(RULE, source="your answer (user)")) == [
        ("allow glob", f"{path}:4", False),
        ("allow note", FOR_SESSION, True),
    ]


@pytest.mark.parametrize("scope", [Scope.USER, Scope.PROJECT])
def test_a_saved_one_goes_from_the_file_and_from_the_rules(tmp_path: Path, places: Places, scope: Scope) -> None:
    save_rule(places, str(tmp_path), RULE, scope)
    as_answered = replace(RULE, source=f"your answer ({scope})")
    as_read = replace(RULE, source=f"{saved_path(places)}:4", project=str(tmp_path))
    with session(tmp_path, [Note()], None, rules=[as_answered, as_read, OTHER]) as scheduler:
        before = len(scheduler.permission.policy.rules)
        (answer,) = given_answers(places, scheduler.permission)
        take_back(places, scheduler.permission, answer)
        after = scheduler.permission.policy.rules
        assert len(after) == before - 2
        assert OTHER in after
        assert given_answers(places, scheduler.permission) == []
        with pytest.raises(UsageError, match="Nothing was revoked"):
            take_back(places, scheduler.permission, answer)


def test_one_of_the_session_leaves_the_same_rule_of_somebody_else(tmp_path: Path, places: Places) -> None:
    by_hand = replace(RULE, source="/home/me/.gemini/policies/mine.toml:1")
    with session(tmp_path, [Note()], None, rules=[RULE, by_hand]) as scheduler:
        (answer,) = given_answers(places, scheduler.permission)
        take_back(places, scheduler.permission, answer)
        assert [rule for rule in scheduler.permission.policy.rules if rule.tool == "note"] == [by_hand]
