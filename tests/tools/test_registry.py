"""Tools by name: registration, aliases, settings, declarations, other people's tools, and unknown names."""

import copy
import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.errors import ErrorType, ToolFailure, UsageError
from tejat.core.messages.declaration import FunctionDeclaration, Kind
from tejat.core.messages.types import Params
from tejat.core.provenance import ToolSource
from tejat.core.tools.base import BaseTool, ToolContext, ToolResult
from tejat.tools.registry import ACTIVATE_SKILL, ALIASES, FIND_TOOLS, ToolEntry, ToolRegistry, entry_for

SEARCH_ALIASES = ALIASES["search_file_content"]


class NamedTool(BaseTool):
    """A tool that only has a name."""

    def __init__(self, name: str, display_name: str | None = None) -> None:
        super().__init__(
            name=name,
            display_name=display_name,
            description=f"It is {name}.",
            parameter_schema={"type": "object", "properties": {"a": {"type": "string"}}},
        )

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        return ToolResult(self.name)


class ShellTool(NamedTool):
    pass


class GrepTool(NamedTool):
    pass


class _PrivateTool(NamedTool):
    pass


class ServerTool(NamedTool):
    """A tool of a server, registered as such a tool is."""

    def __init__(self, server: str, own_name: str) -> None:
        super().__init__(f"{server}__{own_name}")
        self.server_name = server
        self._own_name = own_name

    @property
    def own_name(self) -> str:
        return self._own_name


def of_server(server: str, *names: str) -> list[ToolEntry]:
    return [
        entry_for(
            ServerTool(server, name),
            alternate_names=[f"mcp_{server}_{name}", f"mcp__{server}__{name}", f"{server}.{name}"],
        )
        for name in names
    ]


def clash(name: str, owner: str) -> str:
    return (
        f'Tool "{name}" cannot be registered: the name "{name}" already belongs to {owner}. '
        "Give one of the two another name."
    )


def registry_of(*tools: BaseTool) -> ToolRegistry:
    registry = ToolRegistry()
    for tool in tools:
        registry.register(tool, source=ToolSource.BUILT_IN)
    return registry


def declaration(name: str) -> FunctionDeclaration:
    return NamedTool(name).schema


class TestLookingUp:
    def test_what_was_registered_is_found(self) -> None:
        tool = NamedTool("paint")
        registry = registry_of(tool, NamedTool("draw"))
        assert registry.get("paint") is tool
        assert registry["paint"] is tool
        assert "paint" in registry

    @pytest.mark.parametrize("name", ["", "Paint", "paint ", "pain", "NamedTool"])
    def test_any_other_name_is_nothing(self, name: str) -> None:
        registry = registry_of(NamedTool("paint"))
        assert registry.get(name) is None
        assert name not in registry

    @pytest.mark.parametrize("name", [5, None, ("paint",)])
    def test_what_is_no_name_is_not_in_it(self, name: object) -> None:
        assert name not in registry_of(NamedTool("paint"))

    @pytest.mark.parametrize("name", ["search_file_content", "grep", "grep_search"])
    def test_the_search_tool_is_found_by_every_name_it_ever_had(self, name: str) -> None:
        tool = GrepTool("search_file_content")
        registry = registry_of(tool)
        assert registry.get(name) is tool
        assert registry[name] is tool
        assert name in registry

    def test_an_alias_of_nothing_is_nothing(self) -> None:
        assert registry_of(NamedTool("paint")).get("grep") is None

    def test_the_name_of_a_tool_is_a_string(self) -> None:
        with pytest.raises(TypeError, match=r"^The name of a tool must be a string, not 5\.$"):
            registry_of(NamedTool("paint"))[5]  # pyright: ignore[reportArgumentType]

    def test_forgetting_a_tool(self) -> None:
        registry = registry_of(NamedTool("paint"), NamedTool("draw"))
        registry["paint"]
        registry.unregister("paint")
        registry.unregister("unheard_of")
        assert registry.names() == ["draw"]
        assert registry.get("paint") is None
        again = NamedTool("paint")
        registry.register(again, source=ToolSource.BUILT_IN)
        assert registry["paint"] is again


class TestLoading:
    def entry(self, loaded: list[str], name: str = "paint") -> ToolEntry:
        def load() -> BaseTool:
            loaded.append(name)
            return NamedTool(name)

        return ToolEntry(declaration(name), "Paint", "PaintTool", Kind.OTHER, ToolSource.BUILT_IN, load)

    def test_a_tool_is_loaded_at_its_first_use_and_only_once(self) -> None:
        loaded: list[str] = []
        registry = ToolRegistry()
        registry.register_entry(self.entry(loaded))
        assert registry.names() == ["paint"]
        assert registry.declarations() == [declaration("paint")]
        assert "paint" in registry
        assert loaded == []
        assert registry["paint"] is registry.get("paint")
        assert loaded == ["paint"]

    def test_a_tool_that_is_switched_off_is_not_loaded(self) -> None:
        loaded: list[str] = []
        registry = ToolRegistry()
        registry.register_entry(self.entry(loaded))
        registry.select(exclude=["paint"])
        assert registry.get("paint") is None
        assert registry.all_tools() == []
        assert loaded == []

    def test_a_registered_tool_becomes_an_entry(self) -> None:
        tool = _PrivateTool("paint", "Paint")
        (entry,) = registry_of(tool).entries()
        assert (entry.name, entry.display_name, entry.class_name, entry.kind, entry.source) == (
            "paint",
            "Paint",
            "PrivateTool",
            Kind.OTHER,
            ToolSource.BUILT_IN,
        )
        assert entry.declaration == tool.schema
        assert entry.load() is tool


class TestClashes:
    def test_a_taken_name_is_refused_loudly(self) -> None:
        first = NamedTool("paint", "Paint")
        registry = registry_of(first)
        with pytest.raises(UsageError) as caught:
            registry.register(NamedTool("paint"), source=ToolSource.MCP)
        assert str(caught.value) == (
            'Tool "paint" cannot be registered: the name "paint" already belongs to Paint (built-in). '
            "Give one of the two another name."
        )
        assert registry["paint"] is first
        assert registry.names() == ["paint"]

    def test_the_name_of_a_tool_that_is_switched_off_is_taken_too(self) -> None:
        registry = registry_of(NamedTool("paint"))
        registry.select(exclude=["paint"])
        with pytest.raises(UsageError, match="cannot be registered"):
            registry.register(NamedTool("paint"), source=ToolSource.BUILT_IN)

    @pytest.mark.parametrize("alias", SEARCH_ALIASES)
    def test_an_alias_of_a_registered_tool_is_taken(self, alias: str) -> None:
        registry = registry_of(GrepTool("search_file_content"))
        with pytest.raises(UsageError, match=f'"{alias}" cannot be registered'):
            registry.register(NamedTool(alias), source=ToolSource.BUILT_IN)

    @pytest.mark.parametrize("alias", SEARCH_ALIASES)
    def test_a_tool_whose_alias_is_taken_is_refused_as_well(self, alias: str) -> None:
        stranger = NamedTool(alias)
        registry = registry_of(stranger)
        with pytest.raises(UsageError, match='"search_file_content" cannot be registered'):
            registry.register(GrepTool("search_file_content"), source=ToolSource.BUILT_IN)
        assert registry[alias] is stranger
        assert registry.names() == [alias]


class TestDeclarations:
    def test_every_tool_is_declared_once_in_the_order_of_registration(self) -> None:
        registry = registry_of(NamedTool("b"), NamedTool("a"), GrepTool("search_file_content"))
        assert registry.declarations() == [declaration("b"), declaration("a"), declaration("search_file_content")]
        assert registry.names() == ["b", "a", "search_file_content"]

    def test_built_in_tools_come_before_discovered_ones_and_those_of_servers(self) -> None:
        registry = ToolRegistry()
        for name, source in [
            ("m1", ToolSource.MCP),
            ("d1", ToolSource.DISCOVERED),
            ("b1", ToolSource.BUILT_IN),
            ("m0", ToolSource.MCP),
            ("d0", ToolSource.DISCOVERED),
            ("b0", ToolSource.BUILT_IN),
        ]:
            registry.register(NamedTool(name), source=source)
        assert registry.names() == ["b1", "b0", "d1", "d0", "m1", "m0"]
        assert [declared.name for declared in registry.declarations()] == registry.names()

    def test_a_selection_keeps_the_order_asked_and_skips_the_unknown(self) -> None:
        registry = registry_of(NamedTool("a"), NamedTool("b"), NamedTool("c"))
        assert registry.declarations_for(["c", "unheard_of", "a"]) == [declaration("c"), declaration("a")]
        assert registry.declarations_for([]) == []

    def test_a_selection_names_no_tool_twice(self) -> None:
        registry = registry_of(NamedTool("a"), GrepTool("search_file_content"))
        asked = ["grep", "a", "a", "search_file_content", "grep_search"]
        assert registry.declarations_for(asked) == [declaration("search_file_content"), declaration("a")]

    def test_all_tools_by_display_name(self) -> None:
        tools = [NamedTool("a", "Zebra"), NamedTool("b", "Ant"), NamedTool("c", "Mole")]
        assert registry_of(*tools).all_tools() == [tools[1], tools[2], tools[0]]


class TestSettings:
    def registry(self) -> ToolRegistry:
        return registry_of(
            NamedTool("paint"), GrepTool("search_file_content"), ShellTool("run_shell_command"), _PrivateTool("hide")
        )

    @pytest.mark.parametrize(
        ("core", "names"),
        [
            (None, ["paint", "search_file_content", "run_shell_command", "hide"]),
            ([], []),
            (["paint"], ["paint"]),
            (["ShellTool", "paint"], ["paint", "run_shell_command"]),
            (["ShellTool(git status)"], ["run_shell_command"]),
            (["run_shell_command(git status)", "run_shell_command(ls)"], ["run_shell_command"]),
            (["grep"], ["search_file_content"]),
            (["grep_search"], ["search_file_content"]),
            (["GrepTool"], ["search_file_content"]),
            (["RipGrepTool"], ["search_file_content"]),
            (["PrivateTool"], ["hide"]),
            (["unheard_of"], []),
            ([" paint "], ["paint"]),
        ],
    )
    def test_a_list_of_core_tools_enables_exactly_those(self, core: list[str] | None, names: list[str]) -> None:
        registry = self.registry()
        registry.select(core=core)
        assert registry.names() == names

    @pytest.mark.parametrize(
        ("exclude", "gone"),
        [
            ([], set[str]()),
            (["paint"], {"paint"}),
            (["NamedTool"], {"paint"}),
            (["ShellTool"], {"run_shell_command"}),
            (["ShellTool(rm)", "run_shell_command(rm -rf)"], set[str]()),
            (["search_file_content"], {"search_file_content"}),
            (["grep"], {"search_file_content"}),
            (["grep_search"], {"search_file_content"}),
            (["RipGrepTool"], {"search_file_content"}),
            (["GrepTool", "PrivateTool"], {"search_file_content", "hide"}),
            (["unheard_of"], set[str]()),
        ],
    )
    def test_excluded_tools_are_neither_found_nor_declared(self, exclude: list[str], gone: set[str]) -> None:
        registry = self.registry()
        everything = registry.names()
        registry.select(exclude=exclude)
        assert registry.names() == [name for name in everything if name not in gone]
        assert {declared.name for declared in registry.declarations()} == set(everything) - gone
        assert {tool.name for tool in registry.all_tools()} == set(everything) - gone
        for name in gone:
            assert registry.get(name) is None
            assert name not in registry
            assert registry.declarations_for([name]) == []
            with pytest.raises(ToolFailure):
                registry[name]

    def test_exclusion_wins(self) -> None:
        registry = self.registry()
        registry.select(core=["paint", "grep"], exclude=["GrepTool"])
        assert registry.names() == ["paint"]

    def test_an_excluded_alias_is_not_a_way_in(self) -> None:
        registry = self.registry()
        registry.select(exclude=["search_file_content"])
        assert registry.get("grep") is None
        assert registry.get("grep_search") is None

    @pytest.mark.parametrize("name", SEARCH_ALIASES)
    def test_a_stranger_that_bears_an_alias_as_its_name_can_be_excluded_by_it(self, name: str) -> None:
        registry = registry_of(NamedTool(name), NamedTool("paint"))
        registry.select(exclude=[name])
        assert registry.names() == ["paint"]
        registry.select(core=[name])
        assert registry.names() == [name]

    def test_a_tool_can_be_switched_on_again(self) -> None:
        registry = self.registry()
        tool = registry["paint"]
        registry.select(exclude=["paint"])
        assert registry.get("paint") is None
        registry.select()
        assert registry.get("paint") is tool

    def test_settings_hold_for_tools_that_come_later(self) -> None:
        registry = ToolRegistry()
        registry.select(exclude=["paint"])
        registry.register(NamedTool("paint"), source=ToolSource.BUILT_IN)
        assert registry.names() == []

    def test_the_settings_are_read_and_never_changed(self) -> None:
        core, exclude = ["paint", "ShellTool(git)"], ["grep"]
        before = copy.deepcopy((core, exclude))
        registry = self.registry()
        registry.select(core=core, exclude=exclude)
        assert (core, exclude) == before
        core.append("grep")
        exclude.clear()
        assert registry.names() == ["paint", "run_shell_command"]


class TestServers:
    def registry(self) -> ToolRegistry:
        registry = registry_of(NamedTool("read_file", "ReadFile"), GrepTool("search_file_content"))
        assert registry.replace_server_tools("hub", of_server("hub", "search", "push")) == []
        assert registry.replace_server_tools("desk", of_server("desk", "search", "ticket", "read_file", "grep")) == []
        return registry

    @pytest.mark.parametrize(
        ("name", "found"),
        [
            ("hub__push", "hub__push"),
            ("mcp_hub_push", "hub__push"),
            ("mcp__hub__push", "hub__push"),
            ("hub.push", "hub__push"),
            ("push", "hub__push"),
            ("ticket", "desk__ticket"),
            ("desk__search", "desk__search"),
            ("mcp_desk_read_file", "desk__read_file"),
            ("desk__read_file", "desk__read_file"),
            ("read_file", "read_file"),
            ("grep", "search_file_content"),
            ("search", None),
            ("hub__ticket", None),
            ("ServerTool", None),
        ],
    )
    def test_every_name_that_means_one_tool(self, name: str, found: str | None) -> None:
        tool = self.registry().get(name)
        assert (None if tool is None else tool.name) == found

    def test_what_is_known_of_one(self) -> None:
        entry = self.registry().entry("push")
        assert entry is not None
        assert (entry.name, entry.own_name, entry.server, entry.source) == ("hub__push", "push", "hub", ToolSource.MCP)
        built_in = self.registry().entry("grep")
        assert built_in is not None
        assert (built_in.own_name, built_in.server, built_in.alternate_names) == (
            "search_file_content",
            None,
            frozenset(),
        )

    def test_a_bare_name_means_one_again_when_the_other_is_switched_off_or_gone(self) -> None:
        registry = self.registry()
        registry.select(exclude=["hub__search"])
        assert registry["search"].name == "desk__search"
        registry.select()
        assert registry.get("search") is None
        registry.replace_server_tools("desk", [])
        assert registry["search"].name == "hub__search"

    def test_a_spelling_of_two_tools_is_a_name_of_neither(self) -> None:
        registry = ToolRegistry()
        registry.replace_server_tools("a", of_server("a", "b_c"))
        registry.replace_server_tools("a_b", of_server("a_b", "c"))
        assert registry.get("mcp_a_b_c") is None
        assert registry["b_c"].name == "a__b_c"
        assert registry["c"].name == "a_b__c"

    def test_a_spelling_never_takes_what_is_somebodys_name(self) -> None:
        registry = registry_of(NamedTool("mcp_hub_push"))
        registry.replace_server_tools("hub", of_server("hub", "push"))
        assert registry["mcp_hub_push"].server_name is None

    @pytest.mark.parametrize("gone", [False, True])
    def test_the_name_of_a_built_in_is_never_anybody_elses(self, gone: bool) -> None:
        registry = self.registry()
        if gone:
            registry.unregister("read_file")
        else:
            registry.select(exclude=["NamedTool"])
        assert registry.get("read_file") is None
        assert registry.replace_discovered_tools([entry_for(NamedTool("read_file"))]) == [
            clash("read_file", "ReadFile (built-in)")
        ]

    @pytest.mark.parametrize(
        "name", [*("grep", "GrepTool", "RipGrepTool", "search_file_content"), FIND_TOOLS, ACTIVATE_SKILL]
    )
    def test_nor_is_an_alias_or_the_name_of_its_class(self, name: str) -> None:
        registry = self.registry()
        (problem,) = registry.replace_discovered_tools([entry_for(NamedTool(name))])
        assert f'Tool "{name}" cannot be registered' in problem
        registry.replace_server_tools("x", of_server("x", name))
        assert f"x__{name}" in registry
        tool = registry.get(name)
        assert tool is None or tool.server_name is None

    def test_an_exchange_touches_nothing_else(self) -> None:
        registry = self.registry()
        registry.replace_discovered_tools([entry_for(NamedTool("lint")), entry_for(NamedTool("build"))])
        kept = [registry[name] for name in ("desk__search", "read_file", "lint")]
        assert registry.replace_server_tools("hub", of_server("hub", "pull", "push")) == []
        assert [entry.name for entry in registry.tools_by_server("hub")] == ["hub__pull", "hub__push"]
        assert [registry[name] for name in ("desk__search", "read_file", "lint")] == kept
        assert registry.replace_discovered_tools([entry_for(NamedTool("test"))]) == []
        assert "lint" not in registry
        assert registry.names() == [
            *("read_file", "search_file_content", "test"),
            *("desk__search", "desk__ticket", "desk__read_file", "desk__grep", "hub__pull", "hub__push"),
        ]

    def test_a_tool_that_comes_anew_is_the_new_one(self) -> None:
        registry = self.registry()
        old = registry["hub__push"]
        registry.replace_server_tools("hub", of_server("hub", "push"))
        assert registry["hub__push"] is not old

    def test_a_clash_is_told_and_the_rest_is_taken(self) -> None:
        registry = self.registry()
        assert registry.replace_server_tools("a__b", of_server("a__b", "c")) == []
        assert registry.replace_server_tools("a", of_server("a", "b__c", "d", "d")) == [
            clash("a__b__c", "a__b__c (server a__b)"),
            clash("a__d", "a__d (server a)"),
        ]
        assert [entry.name for entry in registry.tools_by_server("a")] == ["a__d"]

    def test_by_server(self) -> None:
        registry = self.registry()
        assert [entry.own_name for entry in registry.tools_by_server("desk")] == [
            *("grep", "read_file", "search", "ticket")
        ]
        assert registry.tools_by_server("unheard_of") == []
        assert registry.tools_by_server("") == []

    def test_what_a_server_is_for(self) -> None:
        registry = self.registry()
        registry.replace_server_tools("hub", of_server("hub", "push"), description="Code.")
        assert (registry.server_description("hub"), registry.server_description("desk")) == ("Code.", "")

    @pytest.mark.parametrize(
        ("exclude", "gone"),
        [
            (["hub__push"], ["hub__push"]),
            (["push"], ["hub__push"]),
            (["mcp_hub_push"], ["hub__push"]),
            (["search"], ["hub__search", "desk__search"]),
            (["ServerTool"], ["hub__search", "hub__push", "desk__search", "desk__ticket"]),
            (["hub"], []),
        ],
    )
    def test_excluded_with_the_server_or_without(self, exclude: list[str], gone: list[str]) -> None:
        registry = ToolRegistry()
        registry.select(exclude=exclude)
        registry.replace_server_tools("hub", of_server("hub", "search", "push"))
        registry.replace_server_tools("desk", of_server("desk", "search", "ticket"))
        everything = ["desk__search", "desk__ticket", "hub__search", "hub__push"]
        assert registry.names() == [name for name in everything if name not in gone]

    def test_a_list_of_core_tools_is_about_built_in_ones(self) -> None:
        registry = self.registry()
        registry.select(core=["push"])
        assert registry.names() == [
            *("desk__search", "desk__ticket", "desk__read_file", "desk__grep", "hub__search", "hub__push")
        ]

    @pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
    def test_the_same_order_whoever_comes_first(self, order: tuple[int, ...]) -> None:
        registry = ToolRegistry()
        steps = [
            lambda: registry.replace_server_tools("b", of_server("b", "z", "a")),
            lambda: registry.replace_server_tools("a", of_server("a", "y", "x")),
            lambda: registry.replace_discovered_tools([entry_for(NamedTool("d"))]),
            lambda: registry.register(NamedTool("p"), source=ToolSource.PYTHON),
        ]
        for number in order:
            steps[number]()
        registry.register(NamedTool("own"), source=ToolSource.BUILT_IN)
        assert registry.names() == ["own", "p", "d", "a__y", "a__x", "b__z", "b__a"]

    @settings(max_examples=100, deadline=None)
    @given(
        st.lists(
            st.tuples(st.sampled_from(["a", "a_b", "b"]), st.lists(st.sampled_from(["c", "b_c", "x"]), max_size=4))
        )
    )
    def test_what_was_exchanged_last_is_there_and_every_name_means_one(
        self, exchanges: list[tuple[str, list[str]]]
    ) -> None:
        registry = registry_of(NamedTool("x"))
        for alias, names in exchanges:
            problems = registry.replace_server_tools(alias, of_server(alias, *names))
            assert len(problems) == len(names) - len(set(names))
        last = dict(exchanges)
        expected = {f"{alias}__{name}" for alias, names in last.items() for name in names}
        assert set(registry.names()) == {"x", *expected}
        for name in ("x", "c", "b_c", "mcp_a_b_c", "mcp_a_b_b_c", "a.c"):
            meant = [
                entry.name
                for entry in registry.entries()
                if name in entry.names or name in entry.alternate_names or (name == entry.own_name and name != "x")
            ]
            found = registry.get(name)
            assert (None if found is None else found.name) == (meant[0] if len(meant) == 1 else None)


class TestTellingOf:
    def registry(self) -> ToolRegistry:
        registry = registry_of(NamedTool("own"))
        registry.replace_server_tools("hub", of_server("hub", "push", "pull", "merge"))
        return registry

    def test_a_call_is_remembered_and_a_look_is_not(self) -> None:
        registry = self.registry()
        registry.get("push")
        assert registry.activated_names == []
        registry["pull"]
        registry["own"]
        registry["mcp_hub_push"]
        registry["hub__pull"]
        assert registry.activated_names == ["hub__pull", "own", "hub__push"]

    def test_whoever_looks_for_some_says_so(self) -> None:
        registry = self.registry()
        registry.activate(["hub__merge", "unheard_of", "own", "hub__merge"])
        assert registry.activated_names == ["hub__merge", "own"]

    def test_they_keep_their_place_while_the_server_is_away(self) -> None:
        registry = self.registry()
        registry.activate(["hub__merge", "hub__push"])
        registry.replace_server_tools("hub", [])
        registry.replace_server_tools("hub", of_server("hub", "push", "merge"))
        assert registry.activated_names == ["hub__merge", "hub__push"]

    def test_the_version_changes_with_everything_that_counts(self) -> None:
        registry = self.registry()
        seen = [registry.version]
        for change in (
            lambda: registry.activate(["hub__push"]),
            lambda: registry.select(exclude=["pull"]),
            lambda: registry.replace_server_tools("hub", []),
            lambda: registry.unregister("own"),
            lambda: registry.register(NamedTool("own"), source=ToolSource.BUILT_IN),
        ):
            change()
            seen.append(registry.version)
        assert len(set(seen)) == 6
        registry.get("own")
        registry.activate(["hub__push"])
        assert registry.version == seen[-1]


def test_many_tools_are_found_as_fast_as_few() -> None:
    registry = ToolRegistry()
    for number in range(10):
        registry.replace_server_tools(
            f"s{number}", of_server(f"s{number}", *(f"t{number}_{each}" for each in range(50)))
        )
    names = [spelling for entry in registry.entries() for spelling in (entry.name, entry.own_name)]
    assert len(names) == 1000
    began = time.process_time()
    assert all(registry.get(name) is not None for name in names)
    assert time.process_time() - began < 0.5


class TestUnknownNames:
    def error_message(self, registry: ToolRegistry, name: str) -> str:
        with pytest.raises(ToolFailure) as caught:
            registry[name]
        assert caught.value.error_type is ErrorType.TOOL_NOT_REGISTERED
        start = f'Tool "{name}" not found in registry. Tools must use the exact names that are registered.'
        assert caught.value.message.startswith(start)
        return caught.value.message.removeprefix(start)

    def test_the_three_nearest_names_are_given(self) -> None:
        registry = registry_of(
            *(NamedTool(name) for name in ("list_directory", "read_file", "write_file", "read_many_files", "glob"))
        )
        assert (
            self.error_message(registry, "readfile")
            == ' Did you mean one of: "read_file", "write_file", "read_many_files"?'
        )

    def test_one_name_is_given_alone(self) -> None:
        assert self.error_message(registry_of(NamedTool("glob")), "globb") == ' Did you mean "glob"?'

    def test_an_empty_registry_has_nothing_to_offer(self) -> None:
        assert self.error_message(ToolRegistry(), "glob") == ""

    def test_tools_that_are_switched_off_are_not_offered(self) -> None:
        registry = registry_of(NamedTool("glob"), NamedTool("paint"))
        registry.select(exclude=["glob"])
        assert self.error_message(registry, "glob") == ' Did you mean "paint"?'

    def test_an_endless_name_costs_no_time(self) -> None:
        registry = registry_of(*(NamedTool(f"tool_{number}") for number in range(50)))
        assert "Did you mean" in self.error_message(registry, "t" * 1_000_000)

    def test_among_very_many(self) -> None:
        registry = ToolRegistry()
        for server in "abcdefghij":
            registry.replace_server_tools(
                server, of_server(server, *(f"{server * 3}_{number}" for number in range(50)))
            )
        registry.replace_server_tools("hub", of_server("hub", "create_pull_request"))
        began = time.process_time()
        told = self.error_message(registry, "hub_create_pul_request")
        assert time.process_time() - began < 0.5
        assert told.startswith(' Did you mean one of: "hub__create_pull_request", ')


class TestCollection:
    def test_a_registry_has_names_in_order(self) -> None:
        registry = ToolRegistry()
        assert (list(registry), len(registry), bool(registry), repr(registry)) == (
            [],
            0,
            True,
            "<ToolRegistry: no tools>",
        )
        registry.register(NamedTool("own"))
        registry.register(NamedTool("paint"), source=ToolSource.BUILT_IN)
        assert (list(registry), len(registry)) == (["paint", "own"], 2)
        assert ("own" in registry, "other" in registry, 5 in registry) == (True, False, False)
        assert repr(registry) == "<ToolRegistry: paint, own>"
        registry.select(exclude="own")
        assert (list(registry), len(registry)) == (["paint"], 1)

    def test_a_registered_tool_is_the_callers_own(self) -> None:
        registry = ToolRegistry()
        registry.register(NamedTool("own"))
        (entry,) = registry.entries()
        assert entry.source is ToolSource.PYTHON

    def test_what_is_no_tool_is_refused(self) -> None:
        with pytest.raises(TypeError, match="NamedTool is a class"):
            ToolRegistry().register(NamedTool)  # pyright: ignore[reportArgumentType]

    def test_one_alternate_name_is_one(self) -> None:
        assert entry_for(NamedTool("own"), alternate_names="other").alternate_names == {"other"}
