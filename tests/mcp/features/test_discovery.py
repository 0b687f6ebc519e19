import asyncio
from collections.abc import Callable
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.messages.types import JsonObject, JsonValue
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.features.discovery import list_features
from tejat.mcp.types import ServerFeatures, ServerPrompt, ServerResource, ServerTool

ALL: JsonObject = {"tools": {}, "prompts": {}, "resources": {}}
NOT_FOUND = McpFailure("no such method", McpProblem.REFUSED, code=-32601)
BROKEN = McpFailure("The server returned an error: it broke (code -32603)", McpProblem.REFUSED, code=-32603)
GONE = McpFailure("The server ended.", McpProblem.CLOSED)
PLAIN: JsonObject = {"tools": [{"name": "t"}], "prompts": [{"name": "p"}], "resources": [{"uri": "a:b"}]}
FULL = ServerFeatures((ServerTool("t"),), (ServerPrompt("p"),), (ServerResource("a:b"),))


class Server:
    """Answers with a page for each kind, or fails; `asked` holds what it was asked."""

    def __init__(self, **answers: object) -> None:
        self.answers: dict[str, object] = {**PLAIN, **answers}
        self.asked: list[tuple[str, JsonObject | None]] = []

    async def ask(self, method: str, params: JsonObject | None) -> JsonObject:
        self.asked.append((method, params))
        kind = method.removesuffix("/list")
        answer = self.answers[kind]
        if isinstance(answer, McpFailure):
            raise answer
        if callable(answer):
            return cast("JsonObject", answer(None if params is None else params["cursor"]))
        return cast("JsonObject", {kind: answer})

    def listed(self, capabilities: JsonObject = ALL, *, is_strict: bool = False) -> ServerFeatures:
        return asyncio.run(list_features(self.ask, capabilities, is_strict=is_strict))


def test_everything_is_asked_for_once() -> None:
    server = Server()
    assert server.listed() == FULL
    assert sorted(server.asked) == [("prompts/list", None), ("resources/list", None), ("tools/list", None)]


@pytest.mark.parametrize("capabilities", [{"prompts": {}}, {"prompts": {}, "tools": None}])
def test_only_what_the_server_says_it_has_is_asked_for(capabilities: JsonObject) -> None:
    server = Server()
    assert server.listed(capabilities) == ServerFeatures(prompts=FULL.prompts)
    assert server.asked == [("prompts/list", None)]


def test_a_method_that_is_not_found_is_no_failure() -> None:
    assert Server(tools=NOT_FOUND, prompts=NOT_FOUND).listed(is_strict=True) == ServerFeatures(resources=FULL.resources)


def test_tools_that_cannot_be_listed_are_a_failure_and_the_rest_is_a_problem() -> None:
    with pytest.raises(McpFailure, match="it broke"):
        Server(tools=BROKEN).listed()
    assert Server(prompts=BROKEN, resources="none").listed() == ServerFeatures(
        FULL.tools,
        problems=(
            "Could not list prompts: The server returned an error: it broke (code -32603)",
            "Could not list resources: The server's response to resources/list has no list of resources.",
        ),
    )
    with pytest.raises(McpFailure, match="it broke"):
        Server(prompts=BROKEN).listed(is_strict=True)


def test_a_connection_that_ends_is_a_failure_wherever_it_does() -> None:
    with pytest.raises(McpFailure) as caught:
        Server(resources=GONE).listed()
    assert caught.value is GONE


def pages(count: int) -> Callable[[JsonValue], JsonValue]:
    def page(cursor: JsonValue) -> JsonValue:
        number = 0 if cursor is None else int(str(cursor))
        more = {"nextCursor": str(number + 1)} if number + 1 < count else {}
        return {"tools": [{"name": f"t{number}"}], **more}

    return page


@given(st.integers(1, 30))
def test_all_pages_are_read_in_order(count: int) -> None:
    server = Server(tools=pages(count))
    assert [tool.name for tool in server.listed({"tools": {}}).tools] == [f"t{number}" for number in range(count)]
    assert len(server.asked) == count


def test_pages_without_end() -> None:
    server = Server(tools=pages(10**9))
    found = server.listed({"tools": {}})
    assert (len(found.tools), len(server.asked)) == (500, 500)
    assert found.problems == ("The list of tools is incomplete: more than 500 pages.",)


@pytest.mark.parametrize("cursor", ["again", 7, "", ["x"], "c" * 65_537])
def test_cursors_that_lead_nowhere(cursor: JsonValue) -> None:
    server = Server(tools=lambda _: {"tools": [{"name": "t"}], "nextCursor": cursor})
    found = server.listed({"tools": {}})
    assert found.tools == (ServerTool("t"),)
    assert found.problems[-1] == "The list of tools is incomplete: the server sent an invalid cursor."
    assert len(server.asked) <= 2


def test_too_many_of_everything() -> None:
    many: list[JsonValue] = [{"name": f"n{number}", "uri": f"n:{number}"} for number in range(12_000)]
    found = Server(tools=many, prompts=many, resources=many).listed()
    assert (len(found.tools), len(found.prompts), len(found.resources)) == (2_000, 2_000, 10_000)
    assert found.problems == (
        "Only the first 2,000 tools are used.",
        "Only the first 2,000 prompts are used.",
        "Only the first 10,000 resources are used.",
    )


def test_problems_are_counted_beyond_what_anybody_reads() -> None:
    found = Server(tools=[{"name": "t"}, *[{}] * 5_000]).listed()
    assert found.tools == (ServerTool("t"),)
    assert (len(found.problems), found.problems[-1]) == (50, "4,951 more problems like these.")


def test_of_two_with_one_name_the_first_counts() -> None:
    found = Server(tools=[{"name": "t", "description": "one"}, {"name": "t", "description": "two"}]).listed()
    assert found.tools == (ServerTool("t", "one"),)
    assert found.problems == ("Duplicate name 't' in tools: the first one is used.",)
