"""Which tools a model is told of."""

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from support.note_tool import NoteTool, open_scheduler
from support.tool_catalogue import CatalogueTool, catalogue, full_registry
from tejat.app.tools.listed_tools import builtin_registry as builtin_tools
from tejat.core.json_text import dump_json
from tejat.core.messages.tokens import estimate_declaration_tokens
from tejat.core.provenance import ToolSource
from tejat.core.tools.base import validate_and_execute
from tejat.engine.calls.scheduler import Scheduler
from tejat.engine.loop.lean_declarations import LEAN_TOOLS
from tejat.engine.loop.tool_declarations import ToolDeclarations, ToolIndexOptions, default_limit
from tejat.policy.types import Decision, PolicyRule, Tier
from tejat.tools import find_tools_entry
from tejat.tools.registry import FIND_TOOLS, ToolEntry, ToolRegistry, entry_for


def names(declared: ToolDeclarations) -> list[str]:
    return [declaration.name for declaration in declared()]


def declared_by(scheduler: Scheduler) -> ToolDeclarations:
    def is_forbidden(name: str, server: str | None) -> bool:
        return scheduler.permission.policy.hides(name, server)

    return ToolDeclarations(scheduler.registry, is_forbidden)


def forbidden(tool: str) -> PolicyRule:
    return PolicyRule(Decision.DENY, Tier.USER, "a test", tool)


def test_those_in_use(tmp_path: Path) -> None:
    with open_scheduler(tmp_path, [NoteTool("a"), NoteTool("b"), NoteTool("c")], None) as scheduler:
        declared = declared_by(scheduler)
        assert names(declared) == ["a", "b", "c"]
        scheduler.registry.select(exclude=["b"])
        assert names(declared) == ["a", "c"]
        scheduler.registry.select()
        scheduler.registry.register(NoteTool("d"), source=ToolSource.BUILT_IN)
        assert names(declared) == ["a", "b", "c", "d"]


def test_none_that_a_rule_forbids_altogether(tmp_path: Path) -> None:
    with open_scheduler(tmp_path, [NoteTool("a"), NoteTool("b")], None, rules=[forbidden("b")]) as scheduler:
        declared = declared_by(scheduler)
        assert names(declared) == ["a"]
        scheduler.permission.policy = scheduler.permission.policy.with_rules(forbidden("a"))
        assert names(declared) == []


def test_the_same_tuple_as_long_as_nothing_changes(tmp_path: Path) -> None:
    with open_scheduler(tmp_path, [NoteTool("a"), NoteTool("b")], None) as scheduler:
        declared = declared_by(scheduler)
        first = declared()
        assert declared() is first
        scheduler.registry.select(exclude=["b"])
        second = declared()
        assert second is not first
        assert declared() is second


@pytest.mark.parametrize(("window", "limit"), [(1_000_000, 20_000), (200_000, 20_000), (128_000, 12_800), (0, 0)])
def test_the_usual_limit_is_a_share_of_the_context(window: int, limit: int) -> None:
    assert default_limit(window, 100) == limit
    assert default_limit(window, 101) == 0


class Many:
    """A registry with built-in tools and those of servers, and what is declared of it."""

    def __init__(
        self, registry: ToolRegistry, limit: int | None, forbidden: Sequence[tuple[str, str | None]] = ()
    ) -> None:
        self.registry = registry
        self.limit = limit
        self.forbidden = list(forbidden)
        self.made = 0
        many = ToolIndexOptions(lambda _: self.limit, self.index)
        self.declared = ToolDeclarations(registry, lambda name, server: (name, server) in self.forbidden, many)

    def index(self, entries: Sequence[ToolEntry], max_tokens: int) -> ToolEntry:
        self.made += 1
        return find_tools_entry(self.registry, entries, max_tokens)

    def names(self) -> list[str]:
        return [declaration.name for declaration in self.declared()]

    def find(self, **params: object) -> None:
        result = asyncio.run(validate_and_execute(self.registry[FIND_TOOLS], params))
        assert result.error is None


def small_registry() -> ToolRegistry:
    registry = ToolRegistry()
    registry.register(NoteTool("own"), source=ToolSource.BUILT_IN)
    for server, names in {"hub": ["push", "pull"], "desk": ["ticket"]}.items():
        registry.replace_server_tools(
            server, [entry_for(CatalogueTool(server, name, [], "Does it.")) for name in names]
        )
    return registry


EVERYTHING = ["own", "desk__ticket", "hub__push", "hub__pull"]


class TestTooMany:
    @pytest.mark.parametrize("limit", [None, 1_000])
    def test_as_long_as_there_are_few_all_are_declared(self, limit: int | None) -> None:
        many = Many(small_registry(), limit)
        assert many.names() == EVERYTHING
        assert FIND_TOOLS not in many.registry
        assert many.made == 0

    def test_the_limit_is_what_they_cost(self) -> None:
        registry = small_registry()
        cost = sum(estimate_declaration_tokens(declaration) for declaration in registry.declarations()[1:])
        assert Many(registry, cost).names() == EVERYTHING
        assert Many(registry, cost - 1).names() == ["own", FIND_TOOLS]

    def test_what_was_found_is_declared_from_then_on_behind_the_rest(self) -> None:
        many = Many(small_registry(), 10)
        first = many.declared()
        assert many.names() == ["own", FIND_TOOLS]
        many.find(names=["hub__pull"])
        assert many.names() == ["own", FIND_TOOLS, "hub__pull"]
        many.find(names=["desk__ticket"])
        many.find(names=["hub__pull"])
        last = many.declared()
        assert [declaration.name for declaration in last] == ["own", FIND_TOOLS, "hub__pull", "desk__ticket"]
        assert all(new is old for new, old in zip(last, first, strict=False))
        assert many.made == 1

    def test_a_tool_that_is_not_declared_can_be_called_and_is_declared_then(self) -> None:
        many = Many(small_registry(), 10)
        many.declared()
        assert many.registry["hub__push"].name == "hub__push"
        assert many.names() == ["own", FIND_TOOLS, "hub__push"]

    def test_what_was_called_while_there_were_few_stays_when_there_are_many(self) -> None:
        many = Many(small_registry(), 1_000)
        many.declared()
        assert many.registry["hub__push"].name == "hub__push"
        many.limit = 10
        assert many.names() == ["own", FIND_TOOLS, "hub__push"]

    def test_when_there_are_few_again_all_are_declared(self) -> None:
        many = Many(small_registry(), 10)
        many.declared()
        many.limit = None
        assert many.names() == EVERYTHING
        assert FIND_TOOLS not in many.registry

    def test_a_server_that_changes_changes_the_index(self) -> None:
        many = Many(small_registry(), 10)
        _, finder = many.declared()
        assert "hub (2 tools): push, pull" in finder.description
        many.registry.replace_server_tools("hub", [entry_for(CatalogueTool("hub", "merge", [], "Merges."))])
        _, finder = many.declared()
        assert "hub (1 tool): merge" in finder.description
        many.registry.replace_server_tools("hub", [])
        many.registry.replace_server_tools("desk", [])
        assert many.names() == ["own"]
        assert FIND_TOOLS not in many.registry

    def test_none_that_a_rule_forbids_is_in_the_index(self) -> None:
        many = Many(small_registry(), 10, [("push", "hub"), ("ticket", None)])
        _, finder = many.declared()
        assert "hub (1 tool): pull" in finder.description
        assert "desk (1 tool): ticket" in finder.description
        many.registry.activate(["hub__push", "hub__pull"])
        assert many.names() == ["own", FIND_TOOLS, "hub__pull"]

    @pytest.mark.parametrize("how", ["excluded", "forbidden"])
    def test_without_the_tool_that_finds_them_all_are_declared(self, how: str) -> None:
        many = Many(small_registry(), 10, [(FIND_TOOLS, None)] if how == "forbidden" else [])
        if how == "excluded":
            many.registry.select(exclude=[FIND_TOOLS])
        assert many.names() == EVERYTHING

    def test_a_list_of_core_tools_does_not_take_it_away(self) -> None:
        many = Many(small_registry(), 10)
        many.registry.select(core=[])
        assert many.names() == [FIND_TOOLS]

    def test_the_users_own_from_python_are_declared_unless_they_are_too_many_themselves(self) -> None:
        registry = small_registry()
        registry.register(NoteTool("mine"), source=ToolSource.PYTHON)
        cost = estimate_declaration_tokens(registry.declarations()[1])
        assert Many(registry, cost).names() == ["own", "mine", FIND_TOOLS]
        assert Many(registry, cost - 1).names() == ["own", FIND_TOOLS]

    def test_the_same_tuple_as_long_as_nothing_changes(self) -> None:
        many = Many(small_registry(), 10)
        first = many.declared()
        assert many.declared() is first
        many.find(names=["hub__pull"])
        second = many.declared()
        assert second is not first
        assert many.declared() is second


class TestFiveHundred:
    def test_in_three_thousand_tokens(self) -> None:
        declared = Many(full_registry(), default_limit(1_000_000, 100)).declared()
        assert [declaration.name for declaration in declared] == [FIND_TOOLS]
        assert sum(map(estimate_declaration_tokens, declared)) <= 3_000
        # Nor by a count that is rather too high than too low.
        assert sum(len(dump_json(declaration.to_json()).encode()) for declaration in declared) / 3 <= 3_000

    @pytest.mark.parametrize("backwards", [False, True])
    def test_the_same_whoever_was_connected_first(self, backwards: bool) -> None:
        registry = ToolRegistry()
        servers = list(catalogue().items())
        for server, entries in reversed(servers) if backwards else servers:
            registry.replace_server_tools(server, entries, description=f"Tools for {server}.")
        (finder,) = Many(registry, 10).declared()
        (expected,) = Many(full_registry(), 10).declared()
        assert finder == expected

    def test_it_costs_little_before_each_request(self) -> None:
        many = Many(full_registry(), default_limit(1_000_000, 100))
        many.declared()
        began = time.process_time()
        for _ in range(100):
            many.declared()
        assert time.process_time() - began < 2
        assert many.made == 1


class TestSmallWindow:
    def declared(self, registry: ToolRegistry, *, is_lean: bool = True) -> ToolDeclarations:
        many = ToolIndexOptions(lambda _: None, partial(find_tools_entry, registry))
        return ToolDeclarations(registry, lambda _name, _server: False, many, is_lean=lambda: is_lean)

    def test_few_tools_are_declared_and_the_others_can_be_found(self) -> None:
        registry = builtin_tools()
        declared = self.declared(registry)
        names = [declaration.name for declaration in declared()]
        assert set(names) == {*LEAN_TOOLS, FIND_TOOLS} - {"recall"}  # there is nothing to recall yet
        assert sum(map(estimate_declaration_tokens, declared())) < 1200
        assert declared() is declared()
        found = asyncio.run(validate_and_execute(registry[FIND_TOOLS], {"names": ["glob"]}))
        assert found.error is None
        assert [declaration.name for declaration in declared()] == [*names, "glob"]

    def test_those_that_the_user_chose_are_all_declared(self) -> None:
        registry = builtin_tools()
        registry.select(core=["glob", "web_fetch"])
        assert [declaration.name for declaration in self.declared(registry)()] == ["glob", "web_fetch"]

    def test_a_large_window_gets_them_whole(self) -> None:
        registry = builtin_tools()
        assert list(self.declared(registry, is_lean=False)()) == registry.declarations()
