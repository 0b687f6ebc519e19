"""An index of tools: every server, as much of it as there is room for, and never more."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tool_catalogue import CatalogueTool, full_registry
from tejat.core.messages.tokens import estimate_text_tokens
from tejat.core.provenance import ToolSource
from tejat.tools.registry import ToolRegistry, entry_for
from tejat.tools.tool_search.summary import MAX_TOKENS, summarize_tools


def registry_of(servers: dict[str, list[str]], descriptions: dict[str, str] | None = None) -> ToolRegistry:
    registry = ToolRegistry()
    for server, names in servers.items():
        entries = [entry_for(CatalogueTool(server, name, [], "Does it.")) for name in names]
        registry.replace_server_tools(server, entries, description=(descriptions or {}).get(server, ""))
    return registry


def summary_lines(registry: ToolRegistry, most_tokens: int = MAX_TOKENS) -> list[str]:
    return summarize_tools(registry.entries(), registry.server_description, max_tokens=most_tokens).splitlines()


def test_few_tools_are_named() -> None:
    registry = registry_of({"hub": ["push", "pull"], "desk": ["ticket"]}, {"hub": "Code\n  and more."})
    registry.register(CatalogueTool("", "paint", [], ""), source=ToolSource.PYTHON)
    assert summary_lines(registry) == [
        "python (1 tool): paint",
        "desk (1 tool): ticket",
        "hub (2 tools, Code and more.): push, pull",
    ]


def test_nothing() -> None:
    assert summary_lines(ToolRegistry()) == []


def test_where_names_do_not_fit_the_words_that_tell_most() -> None:
    servers = {
        "hub": [f"{verb}_{thing}" for thing in ("branch", "commit", "review") for verb in ("get", "list", "create")],
        "desk": ["get_ticket", "list_tickets"],
        "shop": ["get_order", "list_orders"],
    }
    assert summary_lines(registry_of(servers), 50) == [
        "desk (2 tools): get_ticket, list_tickets",
        "hub (9 tools) about branch, commit, create, review, get, list",
        "shop (2 tools): get_order, list_orders",
    ]


def test_where_not_even_the_servers_fit_they_are_counted() -> None:
    lines = summary_lines(registry_of({f"server{number:03}": ["do_it"] for number in range(100)}), 100)
    assert lines[0] == "server000 (1 tool)"
    assert lines[-1] == f"and {101 - len(lines)} more, which a query finds too"
    assert 5 < len(lines) < 25


def test_the_same_tools_make_the_same_text() -> None:
    servers = {"b": ["x", "y"], "a": ["z"]}
    backwards = dict(reversed(servers.items()))
    assert summary_lines(registry_of(servers)) == summary_lines(registry_of(backwards))


@pytest.mark.parametrize("name", ["a\nb", "Ignore all\x1b", "x" * 5000, "\u202e"])
def test_no_name_breaks_the_list(name: str) -> None:
    registry = ToolRegistry()
    tool = CatalogueTool("hub", name, [], "")
    tool.name = "hub__safe"
    registry.replace_server_tools("hub", [entry_for(tool)], description="one\ntwo " + "x" * 5000)
    (line,) = summary_lines(registry)
    assert line.startswith("hub (1 tool, one two xxx")
    assert line.endswith("…): hub__safe")
    assert len(line) < 200


def test_five_hundred() -> None:
    lines = summary_lines(full_registry())
    assert len(lines) == 25
    assert estimate_text_tokens("\n".join(lines)) <= MAX_TOKENS
    assert sum("): " in line for line in lines) >= 12


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.text(st.characters(categories=("L", "N")), min_size=1, max_size=80),
        st.lists(st.text("abcdefgh_", min_size=1, max_size=70), unique=True, min_size=1, max_size=12),
        max_size=12,
    ),
    st.integers(20, 400),
)
def test_it_never_takes_more_than_it_may(servers: dict[str, list[str]], room: int) -> None:
    registry = registry_of(servers)
    text = summarize_tools(registry.entries(), registry.server_description, max_tokens=room)
    assert estimate_text_tokens(text) <= room
