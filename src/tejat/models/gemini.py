"""Gemini models over their REST interface."""

import re
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import partial
from typing import Protocol
from urllib.parse import quote
from weakref import WeakSet

from tejat.core.errors import UsageError
from tejat.core.history import Message
from tejat.core.model import Ability, Chunk, FailureKind, ModelFailure, ModelRequest
from tejat.core.words import phrase
from tejat.models import ModelOptions
from tejat.models.address import GEMINI_ADDRESS, base_address, read_key
from tejat.models.encoded import Encoded, Joined, fitted
from tejat.models.estimate import estimate_tokens
from tejat.models.failures import of_http, protocol_failure, retry_after
from tejat.models.gemini_answer import AnswerReader
from tejat.models.gemini_refusal import refusal
from tejat.models.gemini_wire import Dialect
from tejat.models.json_shapes import json_or_text, object_of
from tejat.models.names import context_window
from tejat.models.redact import safe_text
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.sse import MOST_BYTES, MOST_STREAM_BYTES, EventTooLong, SseParser
from tejat.workspace.http.values import HttpFailure, HttpLimits, HttpResponse

_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
_ABOUT_SIGNATURES = re.compile(r"thought.?signature", re.IGNORECASE)
_MOST_REQUEST_BYTES = 19_000_000
"""The service takes 20 MB, and there is more in a request than its messages."""
_MOST_ERROR_BYTES = 2**20


class Endpoint(Protocol):
    """Where a Gemini model is served, and what the service wants to be told besides."""

    def address(self, method: str) -> str:
        """The URL of one method of the model."""
        ...

    async def headers(self) -> Mapping[str, str]:
        """What says who asks. Raises ModelFailure when nobody can be named."""
        ...

    @property
    def secrets(self) -> Sequence[str]:
        """What no message may show."""
        ...

    def count_request(self, contents: bytes, rest: bytes) -> Sequence[bytes]:
        """The body that asks for a count of tokens."""
        ...


def open_gemini(model: str, options: ModelOptions) -> "Gemini":
    """A model of the Gemini API by `GEMINI_API_KEY` or `GOOGLE_API_KEY`.

    Raises ModelFailure when neither is set, and UsageError for what can be no key or an address that no key may go to.
    """
    key = next((found for name in _KEYS if (found := read_key(options, name))), None)
    if key is None:
        raise ModelFailure(
            phrase(
                "There is no key for the model {model}. Set GEMINI_API_KEY; you get one at https://aistudio.google.com/apikey",
                model=model,
            ),
            FailureKind.NO_KEY,
        )
    base = base_address(options, variable="GOOGLE_GEMINI_BASE_URL", usual=GEMINI_ADDRESS, has_key=True)
    version = api_version(options, usual="v1beta")
    return Gemini(model, _KeyEndpoint(model, key, f"{base}/{version}"), options)


def api_version(options: ModelOptions, *, usual: str) -> str:
    """The version of the interface, by `GOOGLE_GENAI_API_VERSION`. Raises UsageError for what can be none."""
    version = options.environment.get("GOOGLE_GENAI_API_VERSION", "").strip()
    if not version or version == "beta":
        return usual
    if not version.isalnum() or not version.isascii():
        raise UsageError(phrase("GOOGLE_GENAI_API_VERSION is not a version."))
    return version


class _KeyEndpoint:
    def __init__(self, model: str, key: str, base: str) -> None:
        self._resource = model if "/" in model else f"models/{model}"
        self._key = key
        self._base = base

    def address(self, method: str) -> str:
        return f"{self._base}/{quote(self._resource, safe='/')}:{method}"

    async def headers(self) -> Mapping[str, str]:
        return {"x-goog-api-key": self._key}

    @property
    def secrets(self) -> Sequence[str]:
        return (self._key,)

    def count_request(self, contents: bytes, rest: bytes) -> Sequence[bytes]:
        model = f'{{"generateContentRequest":{{"model":"{self._resource}",'
        return (model.encode(), b'"contents":[', contents, b"]", rest, b"}}")


class Gemini:
    """One model behind an endpoint. A message is encoded once, however often it is sent."""

    def __init__(self, model: str, endpoint: Endpoint, options: ModelOptions) -> None:
        self._model = model
        self._endpoint = endpoint
        self._dialect = Dialect(model)
        self._encoded = Encoded(self._dialect.encode_message)
        self._lean = Encoded(partial(self._dialect.encode_message, media=False))
        self._joined = Joined(self._encoded)
        self._unsigned: WeakSet[Message] = WeakSet()
        self._http = HttpClient(
            environment=options.environment, limits=options.limits or HttpLimits(body=MOST_STREAM_BYTES)
        )
        if endpoint.address("").startswith("https:"):
            self._http.warm_up()
        self._last_rest: tuple[object, bytes] = (None, b"")

    @property
    def name(self) -> str:
        return self._model

    @property
    def context_window(self) -> int:
        return context_window(self._model)

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset(Ability)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        reader = AnswerReader(self._endpoint.secrets, request.tools)
        body = (b'{"contents":[', *self._contents(request), b"]", self._rest(request), b"}")
        address = f"{self._endpoint.address('streamGenerateContent')}?alt=sse"
        try:
            async with self._http.request("POST", address, headers=await self._headers(), body=body) as response:
                if response.status != 200:
                    raise self._without_signatures(request, await self._refusal(response))
                kind = (response.headers.get("content-type") or "").partition(";")[0].strip().lower()
                if kind == "application/json":
                    for delta in reader.read(await response.read(MOST_BYTES)):
                        yield delta
                elif kind == "text/event-stream":
                    parser = SseParser()
                    async for piece in response:
                        for event in parser.feed(piece):
                            for delta in reader.read(event.data):
                                yield delta
                    for event in parser.end():
                        for delta in reader.read_last(event.data):
                            yield delta
                else:
                    raise protocol_failure(
                        phrase("it is of the type {kind}", kind=safe_text(kind, most=60) or phrase("unknown"))
                    )
        except HttpFailure as failure:
            raise of_http(failure) from None
        except EventTooLong as error:
            raise protocol_failure(str(error)) from None
        yield reader.answer()

    async def count_tokens(self, request: ModelRequest) -> int:
        """By the service, or an estimate where it does not tell."""
        try:
            return await self._counted(request)
        except (ModelFailure, HttpFailure):
            return estimate_tokens(request)

    async def close(self) -> None:
        await self._http.close()

    async def _counted(self, request: ModelRequest) -> int:
        contents = b"".join(self._contents(request))
        body = self._endpoint.count_request(contents, self._dialect.encode_prompt(request))
        address = self._endpoint.address("countTokens")
        async with self._http.request("POST", address, headers=await self._headers(), body=body) as response:
            if response.status != 200:
                raise await self._refusal(response)
            total = object_of(json_or_text(await response.read(_MOST_ERROR_BYTES))).get("totalTokens")
        return total if isinstance(total, int) and total > 0 else estimate_tokens(request)

    def _contents(self, request: ModelRequest) -> Sequence[bytes]:
        blocks = self._joined.of(request.messages)
        if sum(map(len, blocks)) <= _MOST_REQUEST_BYTES:
            return blocks
        return [b",".join(fitted(request.messages, self._encoded, self._lean, most=_MOST_REQUEST_BYTES))]

    def _rest(self, request: ModelRequest) -> bytes:
        """From turn to turn it is the same; only the last is kept."""
        made_of = (
            request.system,
            request.tools,
            request.answer_schema,
            request.abilities,
            request.most_output_tokens,
            request.temperature,
        )
        if self._last_rest[0] != made_of:
            self._last_rest = (made_of, self._dialect.encode_rest(request))
        return self._last_rest[1]

    def _without_signatures(self, request: ModelRequest, failure: ModelFailure) -> ModelFailure:
        """Signatures that another model made, or that a gateway lost, are refused: the next attempt is without them."""
        signed = [message for message in request.messages if message not in self._unsigned]
        if failure.kind is not FailureKind.BAD_REQUEST or not signed or not _ABOUT_SIGNATURES.search(failure.message):
            return failure
        for message in signed:
            self._unsigned.add(message)
            self._encoded.put(message, self._dialect.encode_message(message, signed=False))
            self._lean.put(message, self._dialect.encode_message(message, signed=False, media=False))
        self._joined.forget()
        return ModelFailure(failure.message, failure.kind, status=failure.status, retry_after=0.0, can_retry=True)

    async def _headers(self) -> Mapping[str, str]:
        return {"content-type": "application/json", **await self._endpoint.headers()}

    async def _refusal(self, response: HttpResponse) -> ModelFailure:
        try:
            body = json_or_text(await response.read(_MOST_ERROR_BYTES))
        except HttpFailure:
            # The status says enough.
            body = ""
        wait = retry_after(response.headers, time.time)
        return refusal(body, status=response.status, retry_after=wait, secrets=self._endpoint.secrets)
