"""Finding tools by words: the right one among the first few, for whatever is asked."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tool_catalogue import QUERIES, SIZE, CatalogueTool, full_registry
from tejat.core.messages.declaration import FunctionDeclaration, Kind
from tejat.core.provenance import ToolSource
from tejat.tools.registry import ToolEntry
from tejat.tools.tool_search.ranker import ToolRanker, stem_word, stem_words


def entry(name: str, description: str = "", *parameters: str, server: str | None = None) -> ToolEntry:
    schema = {"type": "object", "properties": {parameter: {"type": "string"} for parameter in parameters}}
    declaration = FunctionDeclaration(name, description, schema)
    return ToolEntry(
        declaration,
        name,
        "Tool",
        Kind.OTHER,
        ToolSource.MCP,
        lambda: CatalogueTool("x", name, [], ""),
        server=server,
    )


def found(query: str, *entries: ToolEntry) -> list[str]:
    return [each.name for each in ToolRanker(entries).rank(query)]


class TestFiveHundred:
    def test_the_right_one_is_among_the_first_five(self) -> None:
        search = ToolRanker(full_registry().entries())
        missed = {
            query: top
            for query, right in QUERIES.items()
            if not set(top := [each.name for each in search.rank(query)[:5]]) & set(right.split())
        }
        assert len(QUERIES) >= 60
        assert len(missed) <= 0.05 * len(QUERIES), missed

    def test_every_tool_is_found_by_its_own_name_in_words(self) -> None:
        entries = full_registry().entries()
        search = ToolRanker(entries)
        missed = [
            each.name
            for each in entries
            if each not in search.rank(f"{each.own_name.replace('_', ' ')} {each.server}")[:5]
        ]
        assert missed == []

    def test_quickly(self) -> None:
        entries = full_registry().entries()
        assert len(entries) == SIZE
        began = time.process_time()
        search = ToolRanker(entries)
        for query in QUERIES:
            search.rank(query)
        assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("text", "stems"),
    [
        ("create_pull_request", ["creat", "pull", "request"]),
        ("createPullRequest", ["creat", "pull", "request"]),
        ("getHTTPResponse2", ["get", "http", "response2"]),
        ("Lists ALL issues.", ["list", "all", "issu"]),
        ("", []),
        ("_-.", []),
        ("天気予報", ["天気", "気予", "予報"]),
        ("天", ["天"]),
        ("größe ändern", ["größ", "ändern"]),
    ],
)
def test_words_of_a_text(text: str, stems: list[str]) -> None:
    assert stem_words(text) == stems


@pytest.mark.parametrize(
    "words",
    [
        ["create", "creates", "created", "creating", "creation"],
        ["issue", "issues"],
        ["query", "queries"],
        ["run", "runs", "running"],
        ["delete", "deleted", "deletion"],
        ["commit", "commits", "committed", "committing"],
    ],
)
def test_words_that_are_the_same_but_for_their_ending(words: list[str]) -> None:
    assert len({stem_word(word) for word in words}) == 1


@pytest.mark.parametrize("word", ["status", "access", "bus", "ring", "red", "he", "ion"])
def test_words_that_only_look_like_having_an_ending(word: str) -> None:
    assert stem_word(word) == word


class TestRanking:
    def test_a_name_says_more_than_a_description_and_that_more_than_a_parameter(self) -> None:
        entries = [
            entry("a", "Does things.", "weather"),
            entry("b", "Tells the weather."),
            entry("weather", "Does things."),
            entry("c", "Does things."),
        ]
        assert found("weather", *entries) == ["weather", "b", "a"]

    def test_a_tool_that_has_all_the_words_comes_first(self) -> None:
        entries = [entry("list_users"), entry("user_user_user"), entry("list_channels"), entry("list_channel_users")]
        assert found("list users of channel", *entries)[0] == "list_channel_users"

    def test_what_is_said_first_counts_more(self) -> None:
        entries = [entry("a", "Does things.\n\nLike weather."), entry("b", "Does things, like weather.")]
        assert found("weather", *entries) == ["b", "a"]

    def test_the_server_counts(self) -> None:
        entries = [entry(f"{server}__create_issue", server=server) for server in ("hub", "desk", "list")]
        assert found("create an issue at desk", *entries)[0] == "desk__create_issue"

    def test_another_word_for_the_same(self) -> None:
        entries = [entry("remove_row"), entry("create_row"), entry("paint")]
        assert found("delete record", *entries)[0] == "remove_row"

    def test_a_slip_and_a_beginning(self) -> None:
        entries = [entry("list_calendars"), entry("send_letter")]
        assert found("calender", *entries) == ["list_calendars"]
        assert found("calend", *entries) == ["list_calendars"]

    @pytest.mark.parametrize("query", ["", "   ", "zebra", "...", "\0"])
    def test_nothing_fits(self, query: str) -> None:
        assert found(query, entry("paint", "Paints a wall.")) == []

    def test_no_tools(self) -> None:
        assert found("paint") == []

    def test_words_that_say_nothing_find_nothing(self) -> None:
        assert found("what can you use", entry("you_use"), entry("paint")) == []

    def test_of_equals_the_first(self) -> None:
        assert found("paint", entry("paint_c"), entry("paint_b")) == ["paint_c", "paint_b"]

    def test_an_endless_query_and_an_endless_description(self) -> None:
        began = time.process_time()
        assert found("paint " * 200_000, entry("paint", "word " * 1_000_000)) == ["paint"]
        assert time.process_time() - began < 2

    def test_a_schema_that_is_none(self) -> None:
        odd = ToolEntry(
            FunctionDeclaration("odd", "", {"properties": ["a", 5]}),
            "odd",
            "Tool",
            Kind.OTHER,
            ToolSource.MCP,
            lambda: CatalogueTool("x", "odd", [], ""),
        )
        assert found("odd", odd) == ["odd"]

    @settings(max_examples=100, deadline=None)
    @given(
        st.text(max_size=40), st.lists(st.tuples(st.text(min_size=1, max_size=20), st.text(max_size=40)), max_size=5)
    )
    def test_any_text(self, query: str, tools: list[tuple[str, str]]) -> None:
        entries = [entry(name, description) for name, description in tools]
        ranked = ToolRanker(entries).rank(query)
        assert len(ranked) == len({id(each) for each in ranked})
        assert ToolRanker(entries).rank(query) == ranked
