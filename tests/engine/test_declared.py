"""Which tools a model is told of."""

from pathlib import Path

from notes import Note, session
from tejat.engine.declared import Declared
from tejat.engine.scheduler import Scheduler
from tejat.policy.rules import Decision, Rule, Tier


def names(declared: Declared) -> list[str]:
    return [declaration.name for declaration in declared()]


def declared_by(scheduler: Scheduler) -> Declared:
    def is_forbidden(name: str) -> bool:
        return scheduler.permission.policy.hides(name)

    return Declared(scheduler.registry, is_forbidden)


def forbidden(tool: str) -> Rule:
    return Rule(Decision.DENY, Tier.USER, "a test", tool)


def test_those_in_use(tmp_path: Path) -> None:
    with session(tmp_path, [Note("a"), Note("b"), Note("c")], None) as scheduler:
        declared = declared_by(scheduler)
        assert names(declared) == ["a", "b", "c"]
        scheduler.registry.select(exclude=["b"])
        assert names(declared) == ["a", "c"]
        scheduler.registry.select()
        scheduler.registry.register(Note("d"))
        assert names(declared) == ["a", "b", "c", "d"]


def test_none_that_a_rule_forbids_altogether(tmp_path: Path) -> None:
    with session(tmp_path, [Note("a"), Note("b")], None, rules=[forbidden("b")]) as scheduler:
        declared = declared_by(scheduler)
        assert names(declared) == ["a"]
        scheduler.permission.policy = scheduler.permission.policy.with_rule(forbidden("a"))
        assert names(declared) == []


def test_the_same_tuple_as_long_as_nothing_changes(tmp_path: Path) -> None:
    with session(tmp_path, [Note("a"), Note("b")], None) as scheduler:
        declared = declared_by(scheduler)
        first = declared()
        assert declared() is first
        scheduler.registry.select(exclude=["b"])
        second = declared()
        assert second is not first
        assert declared() is second
