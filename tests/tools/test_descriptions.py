"""What models read of the tools: short, complete, and the same in every place where it is written down."""

import json
import os
import runpy
from pathlib import Path

import pytest

from tejat.tools import DECLARATIONS, load_builtin
from tejat.tools.descriptions import load_description
from tejat.workspace.context import Workspace

TOOLS = [known["name"] for known in json.loads(Path(DECLARATIONS).read_text(encoding="utf-8"))]
DESCRIPTIONS = Path(DECLARATIONS).parent / "descriptions"


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_has_its_description(name: str, tmp_path: Path) -> None:
    described = load_description(name)
    assert described == (DESCRIPTIONS / f"{name}.md").read_text(encoding="utf-8").strip()
    assert 100 < len(described) < 1000
    script = Path(__file__).parents[2] / "scripts" / "declarations"
    with Workspace([tmp_path]) as workspace:
        here = runpy.run_path(str(script), run_name="declarations")["DeclarationServices"](workspace, str(tmp_path))
        assert load_builtin(name, here).description == described


def test_every_description_has_a_tool() -> None:
    assert {path.stem for path in DESCRIPTIONS.glob("*.md")} == {
        *(*TOOLS, "discovered_tool", "find_tools", "activate_skill"),
    }


def test_a_tool_without_description() -> None:
    with pytest.raises(FileNotFoundError):
        load_description("no_such_tool")


def test_the_declarations_are_those_of_the_classes() -> None:
    script = Path(__file__).parents[2] / "scripts" / "declarations"
    assert Path(DECLARATIONS).read_text(encoding="utf-8") == runpy.run_path(os.fspath(script))["render"]()


def test_every_parameter_is_explained() -> None:
    for declared in json.loads(Path(DECLARATIONS).read_text(encoding="utf-8")):
        properties = declared["parametersJsonSchema"]["properties"]
        assert all(told["description"] for told in properties.values()), declared["name"]


def test_the_names_that_are_declared() -> None:
    declared = json.loads(Path(DECLARATIONS).read_text(encoding="utf-8"))
    schemas = {known["name"]: known["parametersJsonSchema"] for known in declared}
    assert {name: (list(schema["properties"]), schema["required"]) for name, schema in schemas.items()} == {
        "list_directory": (["path", "ignore", "respect_git_ignore", "respect_gemini_ignore"], ["path"]),
        "read_file": (["path", "offset", "limit"], ["path"]),
        "search_file_content": (
            [
                *("pattern", "path", "include", "exclude_pattern", "case_sensitive", "fixed_strings"),
                *("context", "before", "after", "names_only", "max_matches_per_file", "total_max_matches"),
                "no_ignore",
            ],
            ["pattern"],
        ),
        "glob": (
            ["pattern", "path", "case_sensitive", "respect_git_ignore", "respect_gemini_ignore"],
            ["pattern"],
        ),
        "replace": (
            ["file_path", "old_string", "new_string", "expected_replacements"],
            ["file_path", "old_string", "new_string"],
        ),
        "write_file": (["file_path", "content"], ["file_path", "content"]),
        "read_many_files": (
            [
                *("paths", "include", "exclude", "recursive", "useDefaultExcludes"),
                *("respect_git_ignore", "respect_gemini_ignore"),
            ],
            ["paths"],
        ),
        "run_shell_command": (
            ["command", "description", "directory", "is_background", "network", "timeout"],
            ["command"],
        ),
        "list_background_processes": ([], []),
        "read_background_output": (["pid", "lines", "offset", "delay_ms"], ["pid"]),
        "stop_background_process": (["pid"], ["pid"]),
        "save_memory": (["fact"], ["fact"]),
        "web_fetch": (["prompt"], ["prompt"]),
        "google_web_search": (["query"], ["query"]),
        "ask_user": (["questions"], ["questions"]),
        "write_todos": (["todos"], ["todos"]),
        "get_internal_docs": (["path"], []),
        "recall": (["text", "messages", "turns"], []),
        "invoke_agent": (["agent_name", "prompt"], ["agent_name", "prompt"]),
        "enter_plan_mode": (["reason"], []),
        "exit_plan_mode": (["plan_filename"], ["plan_filename"]),
    }
