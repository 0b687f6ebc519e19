"""`/tools`."""

from pathlib import Path

import pytest

from command_checks import Desks
from foreign_checks import hostile, with_tools


@pytest.fixture
def desks(tmp_path: Path) -> Desks:
    return Desks(tmp_path)


def test_names(desks: Desks) -> None:
    lines = desks.shown("/tools").splitlines()
    assert lines[0] == "Available Gemini CLI tools:"
    assert lines[1:4] == ["  - ReadFolder", "  - ReadFile", "  - SearchText"]
    assert desks.shown("/tools nodesc").splitlines() == lines


def test_descriptions(desks: Desks) -> None:
    desks.person_sets(tools={"core": ["list_directory"]})
    lines = desks.shown("/tools desc").splitlines()
    assert lines[:2] == ["Available Gemini CLI tools:", "  - ReadFolder (list_directory)"]
    assert all(line.startswith("      ") or not line for line in lines[2:])
    assert len(lines) > 2


def test_none(desks: Desks) -> None:
    desks.person_sets(tools={"core": []})
    assert desks.shown("/tools") == "Available Gemini CLI tools:\n  No tools available"


def test_those_of_servers_and_forbidden_ones_are_left_out(desks: Desks) -> None:
    desks.person_sets(mcpServers={"bad": hostile(with_tools("far"))}, tools={"exclude": ["glob"]})
    shown = desks.shown("/mcp refresh", "/tools")
    assert "far" not in shown
    assert "FindFiles" not in shown


def test_any_other_word(desks: Desks) -> None:
    assert desks.shown("/tools all") == "Usage: /tools [desc | nodesc]"
