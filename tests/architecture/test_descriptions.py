"""What models read is part of the interface: descriptions, schemas, and every name a parameter ever had."""

import json
import runpy
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tejat.core.errors import UsageError
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.tokens import estimate_declaration_tokens
from tejat.core.provenance import ToolSource
from tejat.core.tools.base import BaseTool, ParsingTool
from tejat.tools import (
    DECLARATIONS,
    FILE_TOOLS,
    ToolDependencies,
    builtin_registry,
    load_builtin,
    load_declarations,
    session_registry,
)
from tejat.workspace.context import Workspace

ROOT = Path(__file__).parents[2]

TOOLS = {
    "list_directory": ("ReadFolder", "LSTool", "search"),
    "read_file": ("ReadFile", "ReadFileTool", "read"),
    "search_file_content": ("SearchText", "GrepTool", "search"),
    "glob": ("FindFiles", "GlobTool", "search"),
    "replace": ("Edit", "EditTool", "edit"),
    "write_file": ("WriteFile", "WriteFileTool", "edit"),
    "read_many_files": ("ReadManyFiles", "ReadManyFilesTool", "read"),
    "run_shell_command": ("Shell", "ShellTool", "execute"),
    "list_background_processes": ("ListBackgroundProcesses", "ListBackgroundProcessesTool", "read"),
    "read_background_output": ("ReadBackgroundOutput", "ReadBackgroundOutputTool", "read"),
    "stop_background_process": ("StopBackgroundProcess", "StopBackgroundProcessTool", "execute"),
    "save_memory": ("SaveMemory", "MemoryTool", "think"),
    "web_fetch": ("WebFetch", "WebFetchTool", "fetch"),
    "google_web_search": ("GoogleSearch", "WebSearchTool", "search"),
    "ask_user": ("Ask User", "AskUserTool", "communicate"),
    "write_todos": ("WriteTodos", "WriteTodosTool", "other"),
    "get_internal_docs": ("GetInternalDocs", "GetInternalDocsTool", "read"),
    "recall": ("Recall", "RecallTool", "read"),
    "invoke_agent": ("Invoke Subagent", "AgentTool", "agent"),
    "enter_plan_mode": ("Enter Plan Mode", "EnterPlanModeTool", "plan"),
    "exit_plan_mode": ("Exit Plan Mode", "ExitPlanModeTool", "plan"),
}
SCRIPT = str(ROOT / "scripts" / "declarations")


@pytest.fixture
def here(tmp_path: Path) -> Generator[ToolDependencies]:
    """Surroundings in which every tool can be made."""
    with Workspace([tmp_path]) as opened:
        yield runpy.run_path(SCRIPT, run_name="declarations")["DeclarationServices"](opened, str(tmp_path))


def stored() -> list[dict[str, object]]:
    return json.loads(Path(DECLARATIONS).read_text(encoding="utf-8"))


class TestDeclarations:
    def test_the_stored_ones_are_what_the_script_writes(self) -> None:
        script = runpy.run_path(SCRIPT, run_name="declarations")
        assert Path(DECLARATIONS).read_text(encoding="utf-8") == script["render"](), "run scripts/declarations"

    def test_the_tools_in_their_order(self) -> None:
        assert [known["name"] for known in stored()] == list(TOOLS)

    @pytest.mark.parametrize("name", TOOLS)
    def test_each_is_exactly_what_its_class_declares(self, name: str, here: ToolDependencies) -> None:
        tool = load_builtin(name, here)
        (known,) = (known for known in stored() if known["name"] == name)
        assert known == {
            "name": tool.name,
            "displayName": tool.display_name,
            "className": type(tool).__name__,
            "kind": tool.kind.value,
            "description": tool.description,
            "parametersJsonSchema": tool.parameter_schema,
        }, "run scripts/declarations"

    @pytest.mark.parametrize("name", TOOLS)
    def test_the_names_and_kinds_of_the_documents(self, name: str, here: ToolDependencies) -> None:
        tool = load_builtin(name, here)
        assert (tool.name, tool.display_name, type(tool).__name__, tool.kind.value) == (name, *TOOLS[name])

    @pytest.mark.parametrize("name", TOOLS)
    def test_the_description_is_its_page(self, name: str, here: ToolDependencies) -> None:
        page = ROOT / "src" / "tejat" / "tools" / "descriptions" / f"{name}.md"
        description = load_builtin(name, here).description
        assert description == page.read_text(encoding="utf-8").strip()
        assert description

    def test_no_page_is_left_over(self) -> None:
        pages = {path.stem for path in (ROOT / "src" / "tejat" / "tools" / "descriptions").glob("*.md")}
        # One is added to what a command says of its tools; the others are declared where there are too many tools, or
        # where there are skills.
        assert pages == {*TOOLS, "discovered_tool", "find_tools", "activate_skill"}

    def test_the_registry_gives_out_the_same(self, here: ToolDependencies) -> None:
        registry = session_registry(here)
        assert [declared.to_json() for declared in registry.declarations()] == [
            {key: known[key] for key in ("name", "description", "parametersJsonSchema")} for known in stored()
        ]
        for entry in registry.entries():
            tool = registry[entry.name]
            assert (entry.declaration, entry.display_name, entry.class_name, entry.kind, entry.source) == (
                tool.schema,
                tool.display_name,
                type(tool).__name__,
                tool.kind,
                ToolSource.BUILT_IN,
            )

    def test_a_workspace_alone_is_enough_for_the_file_tools(self, here: ToolDependencies) -> None:
        registry = builtin_registry(here.workspace())
        assert registry.names() == [name for name in TOOLS if name in FILE_TOOLS]
        assert len(registry.all_tools()) == len(FILE_TOOLS)
        path: Any = "."
        with pytest.raises(TypeError, match=r"^builtin_registry needs a Workspace, not '\.'"):
            builtin_registry(path)

    def test_any_other_name_is_refused(self, here: ToolDependencies) -> None:
        with pytest.raises(UsageError, match=r'^No built-in tool named "grep"\.$'):
            load_builtin("grep", here)


NEWER_TOOLS = ("ask_user", "write_todos", "enter_plan_mode", "exit_plan_mode", "get_internal_docs")


def test_the_newer_tools_cost_little_in_a_request() -> None:
    declared = [
        FunctionDeclaration(*(known[key] for key in ("name", "description", "parametersJsonSchema")))
        for known in load_declarations()
        if known["name"] in NEWER_TOOLS
    ]
    assert {declaration.name for declaration in declared} >= {"ask_user", "write_todos", "get_internal_docs"}
    assert sum(map(estimate_declaration_tokens, declared)) <= 1_200


DECLARED: dict[str, tuple[list[str], list[str]]] = {
    # tool: (required, other parameters that must be declared)
    "list_directory": (["path"], ["ignore", "respect_git_ignore"]),
    "read_file": (["path"], ["offset", "limit"]),
    "search_file_content": (["pattern"], ["path", "include"]),
    "glob": (["pattern"], ["path", "case_sensitive", "respect_git_ignore"]),
    "replace": (["file_path", "old_string", "new_string"], ["expected_replacements"]),
    "write_file": (["file_path", "content"], []),
    "read_many_files": (
        ["paths"],
        ["include", "exclude", "recursive", "useDefaultExcludes", "respect_git_ignore"],
    ),
    "run_shell_command": (["command"], ["description", "directory", "is_background"]),
    "list_background_processes": ([], []),
    "read_background_output": (["pid"], ["lines"]),
    "stop_background_process": (["pid"], []),
    "save_memory": (["fact"], []),
    "web_fetch": (["prompt"], []),
    "google_web_search": (["query"], []),
    "ask_user": (["questions"], []),
    "write_todos": (["todos"], []),
    "get_internal_docs": ([], ["path"]),
    "recall": ([], ["text", "messages", "turns"]),
    "invoke_agent": (["agent_name", "prompt"], []),
    "enter_plan_mode": ([], ["reason"]),
    "exit_plan_mode": (["plan_filename"], []),
}


@pytest.mark.parametrize("name", TOOLS)
def test_the_oldest_names_are_the_declared_ones(name: str, here: ToolDependencies) -> None:
    schema = load_builtin(name, here).parameter_schema
    required, others = DECLARED[name]
    assert schema["required"] == required
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert set(required + others) <= set(properties)
    for declared in properties.values():
        assert isinstance(declared, dict)
        assert declared["description"]


FILTERING: list[dict[str, object]] = [
    {"file_filtering_options": {"respect_git_ignore": False}},
    {"file_filtering_options": {"respect_gemini_ignore": False}},
    {"respect_git_ignore": False},
]

# For each tool: arguments that are enough, under every name they ever had, and what may be added to them.
HISTORY: dict[str, tuple[list[dict[str, object]], list[dict[str, object]]]] = {
    "list_directory": (
        [{"path": "ROOT"}, {"dir_path": "ROOT"}],
        [{"ignore": ["*.log"]}, *FILTERING],
    ),
    "read_file": (
        [{"path": "ROOT/a"}, {"absolute_path": "ROOT/a"}, {"file_path": "ROOT/a"}],
        [{"offset": 3, "limit": 5}, {"limit": 5}, {"start_line": 2}, {"start_line": 2, "end_line": 4}],
    ),
    "write_file": (
        [{"file_path": "ROOT/a", "content": "x"}],
        [{"modified_by_user": True}, {"ai_proposed_content": "y"}],
    ),
    "glob": (
        [{"pattern": "*"}],
        [
            {"path": "ROOT"},
            {"dir_path": "ROOT"},
            {"case_sensitive": True},
            {"respect_gemini_ignore": False},
            {"respect_git_ignore": False},
        ],
    ),
    "search_file_content": (
        [{"pattern": "x"}],
        [
            {"path": "ROOT"},
            {"dir_path": "ROOT"},
            {"include": "*.py"},
            {"include_pattern": "*.py"},
            {"exclude_pattern": "y"},
            {"names_only": True},
            {"max_matches_per_file": 3},
            {"total_max_matches": 3},
            {"case_sensitive": True},
            {"fixed_strings": True},
            {"context": 2},
            {"after": 2},
            {"before": 2},
            {"no_ignore": True},
        ],
    ),
    "replace": (
        [{"file_path": "ROOT/a", "old_string": "x", "new_string": "y"}],
        [
            {"expected_replacements": 2},
            {"allow_multiple": True},
            {"instruction": "Change it."},
            {"modified_by_user": True},
            {"ai_proposed_content": "z"},
        ],
    ),
    "read_many_files": (
        [{"paths": ["*"]}, {"include": ["*"]}],
        [{"exclude": ["*.log"]}, {"recursive": False}, {"useDefaultExcludes": False}, *FILTERING],
    ),
    "run_shell_command": (
        [{"command": "true"}],
        [{"description": "Nothing."}, {"directory": "ROOT"}, {"dir_path": "ROOT"}, {"is_background": True}],
    ),
    "invoke_agent": ([{"agent_name": "generalist", "prompt": "Look."}], []),
    "list_background_processes": ([{}], []),
    "read_background_output": ([{"pid": 1}], [{"lines": 5}, {"delay_ms": 10}, {"offset": 3}]),
    "stop_background_process": ([{"pid": 1}], []),
    "save_memory": ([{"fact": "Likes tea."}], [{"modified_by_user": True, "modified_content": "x"}]),
    "web_fetch": ([{"prompt": "https://a.example"}, {"url": "https://a.example"}], []),
    "google_web_search": ([{"query": "tea"}], []),
    "ask_user": ([{"questions": [{"question": "Why?", "header": "Why"}]}], []),
    "write_todos": ([{"todos": [{"description": "Test it", "status": "pending"}]}], []),
    "get_internal_docs": ([{}], [{"path": "index.md"}]),
    "recall": ([{}], [{"text": "tea"}, {"messages": "1-2"}, {"turns": "1"}]),
    "enter_plan_mode": ([{}], [{"reason": "It is large."}]),
    "exit_plan_mode": ([{"plan_filename": "plan.md"}, {"plan_path": "plan.md"}], []),
}


def in_place(arguments: dict[str, object], root: Path) -> dict[str, object]:
    return {
        key: value.replace("ROOT", str(root)) if isinstance(value, str) else value for key, value in arguments.items()
    }


def parsed(tool: BaseTool, arguments: dict[str, object]) -> object:
    assert isinstance(tool, ParsingTool)
    return tool.parse(arguments)


@pytest.mark.parametrize("name", TOOLS)
def test_the_necessary_parameters_are_taken_under_every_name(name: str, here: ToolDependencies, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    tool = load_builtin(name, here)
    enough, _ = HISTORY[name]
    results = [parsed(tool, in_place(arguments, tmp_path)) for arguments in enough]
    if name != "read_many_files":  # there the newer form is another parameter that replaces the older one
        assert results == [results[0]] * len(results)


CASES = [(name, added) for name, (_, additions) in HISTORY.items() for added in additions]


@pytest.mark.parametrize(("name", "added"), CASES)
def test_every_other_parameter_has_an_effect_under_every_name(
    name: str, added: dict[str, object], here: ToolDependencies, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("x\n")
    tool = load_builtin(name, here)
    enough = in_place(HISTORY[name][0][0], tmp_path)
    assert parsed(tool, enough | in_place(added, tmp_path)) != parsed(tool, enough)
