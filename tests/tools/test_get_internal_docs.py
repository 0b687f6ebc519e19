"""`get_internal_docs`."""

import asyncio

import pytest

from tejat.core.tools.base import ToolResult, validate_and_execute
from tejat.tools.get_internal_docs import GetInternalDocsTool
from tejat.workspace.documentation import DOCUMENTATION_DIRECTORY, documentation_files, read_documentation


def call(**params: object) -> ToolResult:
    return asyncio.run(validate_and_execute(GetInternalDocsTool(), params))


def test_the_list() -> None:
    result = call()
    names = documentation_files()
    assert result.llm_content == "Available Tejat documentation files:\n\n" + "\n".join(f"- {name}" for name in names)
    assert str(result.return_display) == f"Found {len(names)} documentation files."
    assert "settings.md" in names


@pytest.mark.parametrize("path", ["tools.md", "./tools.md", "docs/tools.md", f"{DOCUMENTATION_DIRECTORY}/tools.md"])
def test_a_file(path: str) -> None:
    result = call(path=path)
    assert result.error is None
    assert result.llm_content == read_documentation("tools.md")
    assert str(result.return_display) == "Read tools.md."


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("nope.md", "File not found: nope.md. Call without path for the list."),
        ("tools", "File not found: tools. Call without path for the list."),
        (".", "File not found: .. Call without path for the list."),
        ("../agent.py", "../agent.py is outside of the documentation directory."),
        ("/etc/passwd", "/etc/passwd is outside of the documentation directory."),
        ("../docs-other/x.md", "../docs-other/x.md is outside of the documentation directory."),
        ("tools.md\x00", "File not found: tools.md\x00. Call without path for the list."),
    ],
)
def test_anything_else(path: str, reason: str) -> None:
    result = call(path=path)
    assert result.error is not None
    assert result.error.message == f"Error accessing internal documentation: {reason}"
