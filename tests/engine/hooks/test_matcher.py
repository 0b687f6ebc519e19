"""Hooks are found by every name of a tool, and told of it by the name they know."""

import re
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.hooks import make_hook
from support.note_tool import NoteTool
from tejat.app.tools.listed_tools import builtin_registry
from tejat.core.tools.base import BaseTool
from tejat.core.tools.claude_names import CLAUDE_TOOL_NAMES
from tejat.engine.hooks.matcher import matched_tool_name, matcher_problem, matches_trigger


class Remote(NoteTool):
    server_name = "files"

    @property
    def own_name(self) -> str:
        return "read"


def tool(name: str) -> BaseTool:
    return Remote(name) if name.startswith("files__") else NoteTool(name)


@pytest.mark.parametrize(
    ("matcher", "name", "found"),
    [
        ("", "write_file", "write_file"),
        ("write_file", "write_file", "write_file"),
        ("write_file|replace", "replace", "replace"),
        ("^write_.*$", "write_file", "write_file"),
        ("write", "write_file", "write_file"),
        ("read_file", "write_file", None),
        ("Write", "write_file", None),
        ("grep_search", "search_file_content", "grep_search"),
        ("files__read", "files__read", "files__read"),
        ("mcp__files__.*", "files__read", "mcp__files__read"),
        ("mcp_files_read", "files__read", "mcp_files_read"),
        ("mcp__.*", "write_file", None),
    ],
)
def test_by_any_name(matcher: str, name: str, found: str | None) -> None:
    assert matched_tool_name(make_hook("x", matcher=matcher), tool(name)) == found


@pytest.mark.parametrize(
    ("matcher", "name", "found"),
    [
        ("", "write_file", "Write"),
        ("Edit|Write", "replace", "Edit"),
        ("Bash", "run_shell_command", "Bash"),
        ("run_shell_command", "run_shell_command", "run_shell_command"),
        ("Read", "write_file", None),
        ("", "save_memory", "save_memory"),
        ("", "files__read", "mcp__files__read"),
    ],
)
def test_in_the_other_spelling(matcher: str, name: str, found: str | None) -> None:
    assert matched_tool_name(make_hook("x", "PreToolUse", matcher=matcher), tool(name)) == found


def test_every_other_name_is_one_of_a_tool() -> None:
    assert set(CLAUDE_TOOL_NAMES) <= set(builtin_registry().names())


@pytest.mark.parametrize("matcher", ["write_file(", "[", "*", "a{2,1}"])
def test_what_is_no_expression_is_taken_literally(matcher: str) -> None:
    assert matched_tool_name(make_hook("x", matcher=matcher), tool(matcher)) == matcher
    assert matched_tool_name(make_hook("x", matcher=matcher), tool("write_file")) is None
    assert matcher_problem(matcher) == ""


@pytest.mark.parametrize("matcher", ["^(?!read_).*$", r"(a)\1", "a" * 20_000])
def test_an_expression_that_only_others_can_use_is_for_everything(matcher: str) -> None:
    assert matched_tool_name(make_hook("x", matcher=matcher), tool("read_file")) == "read_file"
    assert matcher_problem(matcher)


def test_no_expression_takes_long() -> None:
    assert matched_tool_name(make_hook("x", matcher="(a+)+$"), tool("a" * 60 + "!")) is None


@given(st.text(max_size=20), st.sampled_from(["write_file", "glob", "run_shell_command"]))
def test_whoever_python_lets_in_is_let_in(matcher: str, name: str) -> None:
    """What another reading of the matcher finds is never missed, but for words that mean other things there."""
    try:
        is_found = cast("object", re.search(matcher, name)) is not None
    except (re.error, FutureWarning):
        return
    if is_found and matcher.isascii() and "\\" not in matcher and "(?" not in matcher and "[" not in matcher:
        assert matched_tool_name(make_hook("x", matcher=matcher.strip()), tool(name)) is not None


@pytest.mark.parametrize(
    ("matcher", "trigger", "expected"),
    [
        ("", "startup", True),
        ("startup", "startup", True),
        ("startup|resume", "resume", True),
        ("start", "startup", False),
        (".*", "startup", False),
    ],
)
def test_lifecycle_events_are_matched_by_the_very_word(matcher: str, trigger: str, expected: bool) -> None:
    assert matches_trigger(make_hook("x", "SessionStart", matcher=matcher), trigger) is expected


@pytest.mark.parametrize(
    ("matcher", "name", "matches"),
    [
        ("EditTool", "replace", True),
        ("ShellTool|EditTool", "run_shell_command", True),
        ("ReadManyFilesTool", "read_many_files", True),
        ("Read", "read_many_files", False),
        ("EditTool", "write_file", False),
        ("discovered_tool_mine", "mine", True),
        ("discovered_tool_.*", "mine", True),
        ("discovered", "mine", False),
    ],
)
def test_the_names_that_rules_know(matcher: str, name: str, matches: bool) -> None:
    found = matched_tool_name(make_hook("x", matcher=matcher), tool(name))
    assert found == (name if matches else None)
