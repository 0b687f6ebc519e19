"""The same conversation through the official SDK and through our client: the same requests, the same answers."""

import asyncio
import base64
from collections.abc import AsyncGenerator, Generator, Sequence
from dataclasses import dataclass

import pytest
from google import genai
from google.genai import errors, types

from support.media_files import png
from support.model_servers.gemini import (
    ModelServer,
    Received,
    Reply,
    chunk,
    error_reply,
    function_call,
    read_message,
    stream,
    text_reply,
    to_camel_case,
)
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import Message, user_message
from tejat.core.messages.types import FunctionResponse, InlineData, MessagePart, Text, Thought
from tejat.core.model import Chunk, FailureKind, ModelFailure, ModelRequest, ModelResponse, Retry
from tejat.models import ModelOptions, open_model

KEY = "a-key-for-tests"
SYSTEM = "Be brief. Grüße!"
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
PICTURE = png()
# Bytes that look different in the two alphabets of base64.
SIGNATURES = [base64.b64encode(bytes([0xFB, 0xEF, 0xFF, number])).decode() for number in range(4)]
USAGE = {
    "promptTokenCount": 120,
    "cachedContentTokenCount": 90,
    "candidatesTokenCount": 12,
    "thoughtsTokenCount": 7,
    "totalTokenCount": 139,
}

CALLS = stream(
    chunk({"text": "**Looking** I look ", "thought": True}),
    chunk({"text": "at both.", "thought": True}),
    chunk("I read "),
    chunk("both: 語"),
    chunk({"text": ".", "thoughtSignature": SIGNATURES[0]}),
    chunk(
        function_call(
            "read", {"path": "a", "deep": [1, 2.5, None, {"x": True}]}, id="1", thoughtSignature=SIGNATURES[1]
        )
    ),
    chunk(function_call("read", {"path": "b"}, id="2"), reason="STOP", usageMetadata=USAGE),
)
SEEN = stream(chunk("One is a picture"), chunk({"text": "", "thoughtSignature": SIGNATURES[2]}, reason="STOP"))
CODE = {"executableCode": {"language": "PYTHON", "code": "1 + 1"}}
SLOW = error_reply(429, "slow", status_name="RESOURCE_EXHAUSTED", retry_delay="0.01s")
BLOCKED = stream({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": USAGE})
REPLIES: tuple[Reply, ...] = (CALLS, SEEN, SLOW, text_reply("Two.", CODE), BLOCKED)
REQUESTS = len(REPLIES)


@dataclass(frozen=True)
class Seen:
    """What a client made of one answer."""

    text: str
    thoughts: str
    calls: tuple[tuple[str, str | None, object], ...]
    finish: str
    tokens: tuple[int, ...]


@pytest.fixture(autouse=True)
def _by_nothing_but_what_is_said_here(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def server() -> Generator[ModelServer]:
    with ModelServer(REPLIES * 2) as server:
        yield server


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "gemini-3-flash-preview"])
def test_both_say_and_understand_the_same(server: ModelServer, model: str) -> None:
    by_sdk = through_sdk(server, model)
    by_us = asyncio.run(through_us(server, model))
    assert by_us == by_sdk
    assert [len(seen.calls) for seen in by_us] == [2, 0, 0, 0]
    theirs, ours = server.requests[:REQUESTS], server.requests[REQUESTS:]
    assert [meaning(request) for request in ours] == [meaning(request) for request in theirs]
    assert len(server.requests) == 2 * REQUESTS


def through_sdk(server: ModelServer, model: str) -> list[Seen]:
    with sdk_client(server) as client:
        config = types.GenerateContentConfig(
            system_instruction=SYSTEM,
            tools=[types.Tool(function_declarations=[sdk_declaration()])],
            thinking_config=types.ThinkingConfig(
                include_thoughts=True,
                thinking_level=types.ThinkingLevel.HIGH if "-3-" in model else None,
                thinking_budget=None if "-3-" in model else 8192,
            ),
            temperature=0.5,
            max_output_tokens=1000,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        contents: list[types.Content] = []
        seen: list[Seen] = []
        for parts in sdk_turns(model):
            contents.append(types.Content(role="user", parts=parts))
            chunks = list(client.models.generate_content_stream(model=model, contents=contents, config=config))
            seen.append(seen_by_sdk(chunks))
            contents.append(types.Content(role="model", parts=parts_of(chunks)))
    return seen


def sdk_client(server: ModelServer) -> genai.Client:
    retries = types.HttpRetryOptions(attempts=2, initial_delay=0.01, jitter=0.01)
    options = types.HttpOptions(base_url=server.address, api_version="v1beta", retry_options=retries)
    return genai.Client(api_key=KEY, http_options=options)


def sdk_declaration() -> types.FunctionDeclaration:
    return types.FunctionDeclaration(name="read", description="Reads.", parameters_json_schema=SCHEMA)


def sdk_turns(model: str) -> list[list[types.Part]]:
    picture = types.Part(inline_data=types.Blob(mime_type="image/png", data=PICTURE))
    nested = types.FunctionResponsePart(inline_data=types.FunctionResponseBlob(mime_type="image/png", data=PICTURE))
    first = types.FunctionResponse(id="1", name="read", response={"output": "see"})
    if model.startswith("gemini-3"):
        first.parts = [nested]
    second = types.FunctionResponse(id="2", name="read", response={"error": "no such file"})
    siblings = [] if first.parts else [picture]
    return [
        [types.Part(text="Read a and b."), picture],
        [types.Part(function_response=first), *siblings, types.Part(function_response=second)],
        [types.Part(text="How many?")],
        [types.Part(text="Something forbidden.")],
    ]


def parts_of(chunks: Sequence[types.GenerateContentResponse]) -> list[types.Part]:
    candidates = [candidate for found in chunks for candidate in found.candidates or ()]
    contents = [candidate.content for candidate in candidates if candidate.content is not None]
    return [part for content in contents for part in content.parts or ()]


def seen_by_sdk(chunks: Sequence[types.GenerateContentResponse]) -> Seen:
    parts = parts_of(chunks)
    called = [part.function_call for part in parts if part.function_call is not None]
    last = chunks[-1]
    assert last.usage_metadata is not None
    usage = last.usage_metadata
    feedback = last.prompt_feedback
    finished = "blocked" if feedback is not None and feedback.block_reason is not None else finish_of(last)
    return Seen(
        "".join(part.text for part in parts if part.text and not part.thought),
        "".join(part.text for part in parts if part.text and part.thought),
        tuple((str(found.name), found.id, found.args) for found in called),
        finished,
        (
            usage.prompt_token_count or 0,
            usage.cached_content_token_count or 0,
            usage.candidates_token_count or 0,
            usage.thoughts_token_count or 0,
        ),
    )


def finish_of(last: types.GenerateContentResponse) -> str:
    assert last.candidates
    assert last.candidates[0].finish_reason is not None
    return last.candidates[0].finish_reason.value.lower()


async def through_us(server: ModelServer, model: str) -> list[Seen]:
    environment = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": server.address}
    client = open_model(model, ModelOptions(environment))
    history: list[Message] = []
    seen: list[Seen] = []
    for parts in our_turns():
        history.append(user_message(*parts))
        request = ModelRequest(
            tuple(history),
            system=SYSTEM,
            tools=(FunctionDeclaration("read", "Reads.", SCHEMA),),
            temperature=0.5,
            max_output_tokens=1000,
        )
        answer = await answered(client.stream(request))
        seen.append(answer if isinstance(answer, Seen) else seen_by_us(answer))
        if isinstance(answer, ModelResponse):
            history.append(answer.message)
    await client.close()
    return seen


def our_turns() -> list[list[MessagePart]]:
    picture = InlineData("image/png", PICTURE)
    first = FunctionResponse("read", {"output": "see"}, "1")
    second = FunctionResponse("read", {"error": "no such file"}, "2")
    return [
        [Text("Read a and b."), picture],
        [first, picture, second],
        [Text("How many?")],
        [Text("Something forbidden.")],
    ]


async def answered(chunks: AsyncGenerator[Chunk]) -> ModelResponse | Seen:
    """The answer, or what there is of one that was blocked."""
    try:
        (*before, last) = [found async for found in chunks]
    except ModelFailure as failure:
        blocked = [USAGE[f"{name}TokenCount"] for name in ("prompt", "cachedContent", "candidates", "thoughts")]
        return Seen("", "", (), failure.kind.value, tuple(blocked))
    assert isinstance(last, ModelResponse)
    assert [found.kind for found in before if isinstance(found, Retry)] in ([], [FailureKind.RATE_LIMITED])
    return last


def seen_by_us(answer: ModelResponse) -> Seen:
    usage = answer.usage
    return Seen(
        answer.text,
        answer.thoughts,
        tuple((found.name, found.id, dict(found.args)) for found in answer.calls),
        answer.reason.value,
        (usage.prompt, usage.cached, usage.output, usage.thoughts),
    )


def meaning(request: Received) -> object:
    """A request without what is only a matter of spelling: names, base64, cuts in a text, a needless role."""
    body = to_camel_case(request.body)
    system = {name: value for name, value in body.pop("systemInstruction").items() if name != "role"}
    contents = [read_message(content) for content in body.pop("contents")]
    told = [(message.role, plain(message.parts)) for message in contents]
    return request.method, request.target, request.headers["x-goog-api-key"], system, told, body


def plain(parts: Sequence[MessagePart]) -> list[object]:
    found: list[object] = []
    for part in parts:
        signature = getattr(part, "signature", None)
        last = found[-1] if found else None
        if isinstance(part, Thought) and signature is None:
            continue  # need not be sent back
        if isinstance(part, Text) and signature is None and isinstance(last, Text):
            found[-1] = Text(last.text + part.text)
        elif signature is None:
            found.append(part)
        else:
            # What is compared otherwise does not tell the signature.
            found.append((repr(part), decoded(signature)))
    return found


def decoded(signature: str | None) -> bytes | None:
    return None if signature is None else base64.urlsafe_b64decode(signature.replace("+", "-").replace("/", "_"))


@pytest.mark.parametrize(("status", "kind"), [(400, FailureKind.BAD_REQUEST), (403, FailureKind.AUTHENTICATION)])
def test_both_are_refused_alike(status: int, kind: FailureKind) -> None:
    async def ask() -> ModelFailure:
        environment = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": server.address}
        client = open_model("gemini-2.5-pro", ModelOptions(environment))
        with pytest.raises(ModelFailure) as caught:
            async for _ in client.stream(ModelRequest([user_message("hi")])):
                pass
        await client.close()
        return caught.value

    with ModelServer([error_reply(status, "No, thank you.")] * 2) as server:
        with sdk_client(server) as client:
            stream_of = client.models.generate_content_stream(model="gemini-2.5-pro", contents="hi")
            with pytest.raises(errors.ClientError) as theirs:
                next(iter(stream_of))
        ours = asyncio.run(ask())
    assert (theirs.value.code, theirs.value.message) == (ours.status, "No, thank you.")
    assert (ours.kind, ours.message.endswith("No, thank you.")) == (kind, True)
