"""Tools of agents by all their names, and what is left out."""

import pytest

from tejat.config.agents.tool_list import KnownTools, intersect_tools, resolve_tools

NAMES = {name: name for name in ("read_file", "search_file_content", "run_shell_command", "glob")}
KNOWN = KnownTools(
    {**NAMES, "grep_search": "search_file_content", "ShellTool": "run_shell_command"}, frozenset({"files", "files_two"})
)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("read_file", "read_file"),
        ("grep_search", "search_file_content"),
        ("ShellTool", "run_shell_command"),
        ("Read", "read_file"),
        ("Grep", "search_file_content"),
        ("Bash", "run_shell_command"),
        ("*", "*"),
        ("mcp_*", "mcp_*"),
        ("mcp__*", "mcp_*"),
        ("mcp_files_*", "files__*"),
        ("files__*", "files__*"),
        ("files__read", "files__read"),
        ("mcp__files__read", "files__read"),
        ("mcp_files_read", "files__read"),
        ("mcp_files_two_read", "files_two__read"),
        ("mine__x", "mine__x"),
    ],
)
def test_every_spelling_is_one_tool(written: str, name: str) -> None:
    assert resolve_tools([written], KNOWN, ["mine"]) == ((name,), ())


@pytest.mark.parametrize(
    "written", ["Bash(git:*)", "Edit", "no_such_tool", "other__x", "mcp_other_*", "mcp_files_", ""]
)
def test_unknown_names_are_left_out(written: str) -> None:
    assert resolve_tools(["glob", written], KNOWN) == (("glob",), (written,))


def test_a_discovery_command_may_add_any_plain_name() -> None:
    known = KnownTools(NAMES, has_discovery=True)
    assert resolve_tools(["lint", "Bash(git:*)", "x__y"], known) == (("lint",), ("Bash(git:*)", "x__y"))


def test_two_names_of_one_tool_are_one() -> None:
    assert resolve_tools(["Grep", "grep_search"], KNOWN).tools == ("search_file_content",)


def test_a_tool_or_a_server_takes_a_name() -> None:
    assert KNOWN.takes("grep_search")
    assert KNOWN.takes("files__anything")
    assert not KNOWN.takes("reviewer")


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (None, ("glob",), ("glob",)),
        (("*",), ("glob",), ("glob",)),
        (("glob", "read_file"), ("*",), ("glob", "read_file")),
        (("glob",), ("read_file",), ()),
        (("files__*",), ("files__read", "other__x"), ("files__read",)),
        (("files__read", "glob"), ("mcp_*",), ("files__read",)),
    ],
)
def test_what_two_lists_have_in_common(
    first: tuple[str, ...] | None, second: tuple[str, ...], both: tuple[str, ...]
) -> None:
    assert intersect_tools(first, second) == both
