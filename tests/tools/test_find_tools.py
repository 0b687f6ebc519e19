"""`find_tools`: what it says, what it loads, what it declares."""

import asyncio

import pytest

from support.tool_catalogue import CatalogueTool, full_registry
from support.tool_results import invalid_params_result
from tejat.core.errors import ErrorType
from tejat.core.json_text import dump_json
from tejat.core.messages.declaration import Kind
from tejat.core.messages.tokens import estimate_declaration_tokens
from tejat.core.provenance import ToolSource
from tejat.core.tools.base import ToolResult, validate_and_execute
from tejat.tools import find_tools_entry
from tejat.tools.descriptions import load_description
from tejat.tools.find_tools import MAX_LOADED, FindToolsTool
from tejat.tools.registry import FIND_TOOLS, ToolRegistry, entry_for
from tejat.tools.tool_search.summary import MAX_TOKENS


def registry_of(*tools: tuple[str, str]) -> ToolRegistry:
    registry = ToolRegistry()
    registry.replace_server_tools("hub", [entry_for(CatalogueTool("hub", name, ["id"], told)) for name, told in tools])
    return registry


SMALL = (
    ("create_branch", "Makes a branch.\nMore of it."),
    ("delete_branch", "Deletes a branch. " + "x" * 300),
    ("list_branches", ""),
    ("paint_door", "Paints a door."),
)


def find(registry: ToolRegistry, **params: object) -> ToolResult:
    return asyncio.run(validate_and_execute(FindToolsTool(registry, registry.entries()), params))


class TestAnswers:
    def test_the_best_are_loaded_and_the_others_named(self) -> None:
        registry = registry_of(*SMALL)
        assert find(registry, query="create a branch", limit=2) == ToolResult(
            "These can be called from now on:\n"
            "- hub__create_branch: Makes a branch.\n"
            f"- hub__delete_branch: Deletes a branch. {'x' * 181}…\n"
            "Less likely, and not loaded: hub__list_branches",
            "2 tool(s) loaded.",
        )
        assert registry.activated_names == ["hub__create_branch", "hub__delete_branch"]

    def test_by_name(self) -> None:
        registry = registry_of(*SMALL)
        assert find(registry, names=["list_branches", "hub__paint_door", "paint_door"]) == ToolResult(
            "These can be called from now on:\n- hub__list_branches\n- hub__paint_door: Paints a door.",
            "2 tool(s) loaded.",
        )
        assert registry.activated_names == ["hub__list_branches", "hub__paint_door"]

    def test_a_name_that_nobody_has_is_looked_for(self) -> None:
        registry = registry_of(*SMALL)
        assert find(registry, names=["door_painter"], limit=1) == ToolResult(
            'There is no tool "door_painter".\nThese can be called from now on:\n- hub__paint_door: Paints a door.',
            "1 tool(s) loaded.",
        )

    def test_named_ones_come_first_and_count_not_as_found(self) -> None:
        registry = registry_of(*SMALL)
        find(registry, query="delete branch", names=["paint_door"], limit=1)
        assert registry.activated_names == ["hub__paint_door", "hub__delete_branch"]

    def test_nothing_fits(self) -> None:
        registry = registry_of(*SMALL)
        assert find(registry, query="zebra", names=["giraffe"]) == ToolResult(
            'There is no tool "giraffe".\nNo tool fits these words. Try others, or fewer.', "0 tool(s) loaded."
        )
        assert registry.activated_names == []

    def test_no_more_than_so_many_at_once(self) -> None:
        registry = full_registry()
        find(registry, query="list", names=["unheard of"] * 500, limit=10_000)
        assert len(registry.activated_names) == MAX_LOADED
        names = [entry.name for entry in registry.entries()[100:200]]
        assert len(str(find(registry, names=names, query="create", limit=500).llm_content)) < 20_000
        assert len(registry.activated_names) <= 3 * MAX_LOADED

    def test_only_those_that_it_was_made_with(self) -> None:
        registry = registry_of(*SMALL)
        registry.register(CatalogueTool("", "own", [], "Own branch."), source=ToolSource.BUILT_IN)
        tool = FindToolsTool(registry, registry.tools_by_server("hub")[:2])
        result = asyncio.run(validate_and_execute(tool, {"query": "branch door own", "names": ["__own", "paint_door"]}))
        assert str(result.llm_content).startswith('There is no tool "__own".\nThere is no tool "paint_door".\n')
        assert registry.activated_names == ["hub__create_branch", "hub__delete_branch"]

    @pytest.mark.parametrize("params", [{}, {"query": "  "}, {"names": []}, {"query": "", "names": None}])
    def test_nothing_was_asked(self, params: dict[str, object]) -> None:
        assert find(registry_of(*SMALL), **params) == invalid_params_result("Provide a query or tool names.")

    @pytest.mark.parametrize("params", [{"query": 5}, {"query": "x", "limit": 0}, {"names": [""]}])
    def test_wrong_arguments(self, params: dict[str, object]) -> None:
        error = find(registry_of(*SMALL), **params).error
        assert error is not None
        assert error.type is ErrorType.INVALID_TOOL_PARAMS


class TestDeclaration:
    def test_it_tells_of_the_others(self) -> None:
        registry = registry_of(*SMALL)
        entry = find_tools_entry(registry, registry.entries(), MAX_TOKENS)
        assert (entry.name, entry.source, entry.kind) == (FIND_TOOLS, ToolSource.BUILT_IN, Kind.SEARCH)
        assert entry.declaration.description == (
            f"{load_description(FIND_TOOLS)}\n\nhub (4 tools): create_branch, delete_branch, list_branches, paint_door"
        )
        schema = entry.declaration.parameters_json_schema
        properties = schema["properties"]
        assert isinstance(properties, dict)
        assert (list(properties), schema["required"]) == (["query", "names", "limit"], [])

    def test_of_five_hundred_in_three_thousand_tokens(self) -> None:
        registry = full_registry()
        declaration = find_tools_entry(registry, registry.entries(), MAX_TOKENS).declaration
        assert estimate_declaration_tokens(declaration) <= 3_000
        # Nor by a count that is rather too high than too low.
        assert len(dump_json(declaration.to_json()).encode()) / 3 <= 3_000

    def test_what_a_person_reads_of_a_call(self) -> None:
        tool = FindToolsTool(ToolRegistry(), [])
        assert tool.get_description({"query": " branches ", "names": ["a", "b"]}) == "branches, a, b"
        assert tool.get_description({}) == "Model did not provide valid parameters for find tools tool"
