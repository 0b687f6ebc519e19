"""Names of servers' tools: always the same ones, always valid, never those of somebody else."""

import re
from itertools import permutations
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tejat.mcp.names import (
    MAX_NAME_LENGTH,
    NamedTool,
    ToolNaming,
    alias_problem,
    assign_tool_names,
    display_name,
    is_tool_enabled,
    own_name_problem,
    registered_name,
    tool_aliases,
)

VALID = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,62}")
aliases = st.from_regex(r"[A-Za-z0-9_.-]{1,40}", fullmatch=True).filter(lambda alias: alias_problem(alias) is None)
plain_tools = st.from_regex(r"[A-Za-z0-9_.-]{1,80}", fullmatch=True)


class TestAlias:
    @pytest.mark.parametrize("alias", ["a", "git-hub", "my_server", "v1.2", "A" * 40, "7zip", ".x", "-x"])
    def test_what_will_do(self, alias: str) -> None:
        assert alias_problem(alias) is None

    @pytest.mark.parametrize(
        ("alias", "told"),
        [
            ("", "An MCP server has no name. Name it in mcpServers."),
            ("a b", "Invalid MCP server name \"a b\". Use only letters, digits, '_', '-' and '.'."),
            ("a\n", "Invalid MCP server name \"a<U+000A>\". Use only letters, digits, '_', '-' and '.'."),
            ("ü", "Invalid MCP server name \"ü\". Use only letters, digits, '_', '-' and '.'."),
            ("x\x1b", "Invalid MCP server name \"x<U+001B>\". Use only letters, digits, '_', '-' and '.'."),
            (
                "A" * 41,
                f'The MCP server name "{"A" * 41}"... is too long. Use at most 40 characters.',
            ),
        ],
    )
    def test_what_will_not(self, alias: str, told: str) -> None:
        assert alias_problem(alias) == told

    @pytest.mark.parametrize("alias", ["a__b", "__", "_", "_a", "a_"])
    def test_underscores_that_could_pass_for_the_end_of_an_alias(self, alias: str) -> None:
        assert alias_problem(alias) == (
            f"Invalid MCP server name \"{alias}\": '__' separates a server from its tool. "
            "Remove double underscores, and underscores at the start and end."
        )


class TestRegisteredName:
    @pytest.mark.parametrize(
        ("alias", "own_name", "name"),
        [
            ("weather", "forecast", "weather__forecast"),
            ("s", "get weather (today)", "s__get_weather__today_"),
            ("s", "read_file", "s__read_file"),
            ("s", "a__b", "s__a__b"),
            ("s", "x-y", "s__x-y"),
            ("s", "x_y", "s__x_y"),
            ("s", "a.b/c:d", "s__a.b_c_d"),
            ("7zip", "pack", "_7zip__pack"),
            (".x", "pack", "_.x__pack"),
            ("s", "a" * 60, "s__" + "a" * 60),
            ("s", "a" * 61, "s__" + "a" * 27 + "_e50f12386b_" + "a" * 21),
            ("s", "++", "s_____3522f483bb"),
        ],
    )
    def test_vectors(self, alias: str, own_name: str, name: str) -> None:
        assert registered_name(alias, own_name) == name

    @given(aliases, st.text(min_size=1, max_size=400))
    @example("s", "\ud800")
    @example("a" * 40, "+" * 400)
    def test_is_always_valid(self, alias: str, own_name: str) -> None:
        assert VALID.fullmatch(registered_name(alias, own_name))

    @given(aliases, plain_tools, aliases, plain_tools)
    @example("a", "_b", "a", "__b")
    @example("a", "b__c", "a.b", "c")
    @example("1a", "b", "-1a", "b")
    @example("a" * 40, "b" * 80, "a" * 40, "b" * 79 + "c")
    @example("a" * 40, "b" * 40 + "x" + "b" * 39, "a" * 40, "b" * 80)
    def test_two_tools_never_share_one(self, alias: str, own_name: str, alias_2: str, own_name_2: str) -> None:
        same_name = registered_name(alias, own_name) == registered_name(alias_2, own_name_2)
        assert same_name == ((alias, own_name) == (alias_2, own_name_2))

    @given(aliases, plain_tools)
    def test_the_first_two_underscores_end_the_alias(self, alias: str, own_name: str) -> None:
        name = registered_name(alias, own_name)
        whole = f"{alias}__{own_name}"
        if len(whole) < MAX_NAME_LENGTH and re.search("[A-Za-z0-9]", own_name):
            assert name.removeprefix("_").partition("__")[0] == alias

    def test_names_in_another_script_are_told_apart(self) -> None:
        names = {registered_name("s", own_name) for own_name in ["查询", "删除", "получить", "отправить"]}
        assert len(names) == 4


class TestNameTools:
    def test_the_order_of_the_server_is_kept(self) -> None:
        assert assign_tool_names("s", ["b", "a"]) == ToolNaming((NamedTool("s__b", "b"), NamedTool("s__a", "a")))
        assert assign_tool_names("s", []) == ToolNaming(())

    def test_two_that_become_one_are_both_left_out_whatever_their_order(self) -> None:
        for order in permutations(["a b", "a_b", "other", "a+b"]):
            naming = assign_tool_names("s", order)
            assert naming == ToolNaming(
                (NamedTool("s__other", "other"),),
                ('Skipped tools of MCP server s: "a b", "a+b", "a_b" would all be named s__a_b.',),
            )

    def test_the_same_name_twice(self) -> None:
        assert assign_tool_names("s", ["a", "a"]) == ToolNaming(
            (), ('Skipped tools of MCP server s: "a", "a" would all be named s__a.',)
        )

    def test_what_nobody_can_see_is_left_out_whole(self) -> None:
        assert assign_tool_names("s", ["ok", "a\x1b[31mb", "c\nd", ""]) == ToolNaming(
            (NamedTool("s__ok", "ok"),),
            (
                'Skipped a tool of MCP server s: its name "a<U+001B>[31mb" contains invisible characters.',
                'Skipped a tool of MCP server s: its name "c<U+000A>d" contains invisible characters.',
                "Skipped a tool of MCP server s: it has no name.",
            ),
        )

    @given(aliases, st.lists(st.text(max_size=90), max_size=8), st.randoms(use_true_random=False))
    def test_any_order_gives_the_same_names(self, alias: str, own_names: list[str], random: Random) -> None:
        shuffled = random.sample(own_names, len(own_names))
        assert set(assign_tool_names(alias, own_names).tools) == set(assign_tool_names(alias, shuffled).tools)


class TestOwnName:
    @pytest.mark.parametrize("own_name", ["a", "Über", "get weather (today)", "查询", "a" * 300, "😀"])
    def test_what_can_be_seen(self, own_name: str) -> None:
        assert own_name_problem(own_name) is None

    @pytest.mark.parametrize(
        "own_name", ["", "  ", "a\tb", "a\u200bb", "a\u202eb", "\U000e0041", "a\x00", "\ud800", "a\u00a0b", "a" * 513]
    )
    def test_what_cannot(self, own_name: str) -> None:
        problem = own_name_problem(own_name)
        assert problem is not None
        assert problem.isprintable()


class TestOtherNames:
    def test_all_spellings(self) -> None:
        assert tool_aliases("gh", "make issue") == (
            "make issue",
            "make_issue",
            "gh__make issue",
            "mcp_gh_make issue",
            "mcp__gh__make issue",
            "gh.make issue",
        )
        assert tool_aliases("gh", "list") == ("list", "mcp_gh_list", "mcp__gh__list", "gh.list")

    def test_the_name_shown(self) -> None:
        assert display_name("gh", "make issue") == "make issue (gh MCP Server)"


@pytest.mark.parametrize(
    ("include", "exclude", "wanted"),
    [
        (None, [], True),
        ([], [], False),
        (["run"], [], True),
        (["run(ls)"], [], True),
        (["run "], [], False),
        (["other", "runs"], [], False),
        (["run"], ["run"], False),
        (None, ["run"], False),
        (None, ["run(ls)"], True),
    ],
)
def test_which_tools_are_wanted(include: list[str] | None, exclude: list[str], wanted: bool) -> None:
    assert is_tool_enabled("run", include=include, exclude=exclude) == wanted


def test_a_tool_with_a_bracket_in_its_name_can_be_included() -> None:
    assert is_tool_enabled("run(fast)", include=["run(fast)"], exclude=[])
