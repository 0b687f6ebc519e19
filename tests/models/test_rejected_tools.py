"""Tools that a service does not take: found in its own words, and left out by every client."""

import asyncio
import json
from collections.abc import Sequence

import pytest

from support.model_servers import anthropic, openai
from support.model_servers.gemini import LoopbackServer, Received, Reply, error_reply, text_reply
from tejat.core.frozen import replace
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import user_message
from tejat.core.model import Capability, Chunk, FailureKind, ModelFailure, ModelRequest, ModelResponse, Retry
from tejat.models import ModelOptions, open_model
from tejat.models.rejected_tools import RejectedTools
from tejat.models.wire.common import wire_name

SCHEMA = {"type": "object", "properties": {}}
NAMES = ("read_file", "srv__a.b", "srv__c", "last")
TOOLS = tuple(FunctionDeclaration(name, "", SCHEMA) for name in NAMES)
ASKED = ModelRequest((user_message("hi"),), tools=TOOLS)


def refused(message: str, kind: FailureKind = FailureKind.BAD_REQUEST, status: int | None = 400) -> ModelFailure:
    return ModelFailure(f"The service rejected the request. (HTTP 400) {message}", kind, status=status)


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("tools.1.custom.input_schema.properties: Property keys should match pattern", ["srv__a.b"]),
        ("tools.0.custom.name: String should match; tools.3.custom.input_schema: no", ["read_file", "last"]),
        ("Invalid 'tools[2].function.name': string does not match pattern.", ["srv__c"]),
        ("* GenerateContentRequest.tools[0].function_declarations[3].name: Invalid function name.", ["last"]),
        ("Unknown name at 'tools[0].functionDeclarations[1].parameters': Cannot find field.", ["srv__a.b"]),
        ("[{'type': 'missing', 'loc': ['body', 'tools', 2, 'function', 'name']}]", ["srv__c"]),
        (f"Invalid schema for function '{wire_name('srv__a.b')}': not an object.", ["srv__a.b"]),
        ("Invalid parameters for tool `srv__c`", ["srv__c"]),
        ("Unable to submit request because `srv__a.b` functionDeclaration `parameters.x` schema", ["srv__a.b"]),
        ("Duplicate function declaration found: last", ["last"]),
        ("tools[0].tool_type: required one_of 'tool_type' must have one initialized field", []),
        ("tools: Tool names must be unique.", []),
        ("tools.4.custom.name: none", []),
        ("tools[99999999].function: none", []),
        ("function_declarations[1", []),
        ("messages.1: `tool_use` of read_file without `tool_result`; tool 'srv__c' was not found", []),
        ("Invalid schema for function 'unheard_of'", []),
        ("", []),
    ],
)
def test_what_a_refusal_is_about(message: str, named: Sequence[str]) -> None:
    tools = RejectedTools()
    assert list(tools.learn_from(ASKED, refused(message), limit=5)) == named
    assert [tool.name for tool in tools.remove_from(ASKED).tools] == [name for name in NAMES if name not in named]


ABOUT_LAST = "tools.3.custom: no"


@pytest.mark.parametrize(
    ("request_", "failure"),
    [
        (ASKED, refused(ABOUT_LAST, FailureKind.CONTEXT_FULL)),
        (ASKED, refused(ABOUT_LAST, status=404)),
        (ASKED, refused(ABOUT_LAST, status=None)),
        (replace(ASKED, response_schema=SCHEMA), refused(ABOUT_LAST)),
        (replace(ASKED, capabilities=frozenset({Capability.URL_CONTEXT})), refused(ABOUT_LAST)),
        (replace(ASKED, tools=()), refused(ABOUT_LAST)),
    ],
)
def test_what_says_nothing_about_tools(request_: ModelRequest, failure: ModelFailure) -> None:
    tools = RejectedTools()
    assert not tools.learn_from(request_, failure, limit=5)
    assert tools.remove_from(request_) is request_


def test_not_more_than_there_is_room_for() -> None:
    tools = RejectedTools()
    many = " ".join(f"function_declarations[{place}]" for place in range(4))
    assert tools.learn_from(ASKED, refused(many), limit=0) == []
    assert tools.learn_from(ASKED, refused(many), limit=3) == ["read_file", "srv__a.b", "srv__c"]
    assert tools.remove_from(ASKED) == replace(ASKED, tools=TOOLS[3:])


def test_one_that_is_declared_in_another_way_is_tried_again() -> None:
    tools = RejectedTools()
    tools.learn_from(ASKED, refused(ABOUT_LAST), limit=5)
    same, other = FunctionDeclaration("last", "", dict(SCHEMA)), FunctionDeclaration("last", "Better.", SCHEMA)
    request = replace(ASKED, tools=(*TOOLS[:3], same, other))
    assert tools.remove_from(request).tools == (*TOOLS[:3], other)


class Picky(LoopbackServer):
    """Refuses tools that are called `bad...`, one at a time and by their place, as its service does."""

    def __init__(self, service: str) -> None:
        super().__init__(self._answer)
        self.service = service

    @property
    def environment(self) -> dict[str, str]:
        return {
            "GEMINI_API_KEY": "hunter22",
            "GOOGLE_GEMINI_BASE_URL": self.address,
            "OPENAI_BASE_URL": f"{self.address}/v1",
            "ANTHROPIC_BASE_URL": self.address,
            "ANTHROPIC_API_KEY": "hunter22",
        }

    @property
    def told(self) -> list[list[str]]:
        return [names_in(received) for received in self.requests]

    def _answer(self, received: Received) -> Reply:
        bad = [place for place, name in enumerate(names_in(received)) if name.startswith("bad")]
        match self.service:
            case "openai":
                wrong = [f"Invalid 'tools[{place}].function.parameters': no" for place in bad]
                return openai.error_reply(400, wrong[0]) if wrong else openai.text_reply("Hello")
            case "anthropic":
                wrong = [f"tools.{place}.custom.input_schema: no" for place in bad]
                return anthropic.error_reply(400, wrong[0]) if wrong else anthropic.text_reply("Hello")
            case _:
                wrong = [f"* tools[0].function_declarations[{place}].parameters: no" for place in bad]
                return error_reply(400, wrong[0]) if wrong else text_reply("Hello")


def names_in(received: Received) -> list[str]:
    body = json.loads(received.raw)
    declared = [
        each
        for tool in body.get("tools", ())
        for each in tool.get("functionDeclarations", [tool.get("function", tool)])
    ]
    return [each["name"] for each in declared]


def ask(server: Picky, *requests: ModelRequest, attempts: int = 5) -> list[list[Chunk] | ModelFailure]:
    async def whole() -> list[list[Chunk] | ModelFailure]:
        model = open_model(f"{server.service}:m", ModelOptions(server.environment, max_attempts=attempts))
        outcomes: list[list[Chunk] | ModelFailure] = []
        for request in requests:
            try:
                outcomes.append([chunk async for chunk in model.stream(request)])
            except ModelFailure as failure:
                outcomes.append(failure)
        await model.close()
        return outcomes

    with server:
        return asyncio.run(whole())


def with_tools(*names: str) -> ModelRequest:
    return replace(ASKED, tools=tuple(FunctionDeclaration(name, "", SCHEMA) for name in names))


@pytest.mark.parametrize("attempts", [1, 5])
@pytest.mark.parametrize("service", ["gemini", "openai", "anthropic"])
class TestEveryService:
    def test_one_bad_tool_is_left_out_for_good_and_told_of(self, service: str, attempts: int) -> None:
        server, request = Picky(service), with_tools("a", "bad", "b", "bad2")
        first, second = ask(server, request, request, attempts=attempts)
        # A server that nobody knows is asked once more before that, without the wish to count.
        stumbled = server.told.count(["a", "bad", "b", "bad2"])
        assert stumbled == (2 if service == "openai" else 1)
        assert server.told[stumbled:][-2:] == [["a", "b"], ["a", "b"]]
        assert isinstance(first, list)
        assert isinstance(second, list)
        retries = [chunk for chunk in first if isinstance(chunk, Retry)]
        assert [(each.kind, each.attempt, each.max_attempts, each.wait) for each in retries] == [
            (FailureKind.BAD_REQUEST, 1, attempts + 1, 0.0),
            (FailureKind.BAD_REQUEST, 2, attempts + 2, 0.0),
        ]
        assert retries[0].reason.startswith(
            "The service rejected the tool bad. It is no longer sent. The service rejected the request. (HTTP 400)"
        )
        assert not any(isinstance(chunk, Retry) for chunk in second)
        assert all(isinstance(found[-1], ModelResponse) and found[-1].text == "Hello" for found in (first, second))

    def test_there_is_an_end_to_it(self, service: str, attempts: int) -> None:
        server, request = Picky(service), with_tools(*(f"bad{number}" for number in range(7)))
        first, second = ask(server, request, request, attempts=attempts)
        assert isinstance(first, ModelFailure)
        assert (first.kind, first.status) == (FailureKind.BAD_REQUEST, 400)
        assert isinstance(second, list)
        assert sum(isinstance(chunk, Retry) for chunk in second) == 2
        assert list(dict.fromkeys(map(len, server.told))) == [7, 6, 5, 4, 3, 2, 1, 0]
