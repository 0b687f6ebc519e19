"""Gemini models over their REST interface."""

import re
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import partial
from typing import Protocol
from urllib.parse import quote
from weakref import WeakSet

from tejat.core.errors import UsageError
from tejat.core.i18n import gettext_lazy
from tejat.core.messages.history import Message
from tejat.core.model import Capability, Chunk, FailureKind, ModelFailure, ModelRequest
from tejat.models import ModelOptions
from tejat.models.base_url import GEMINI_BASE_URL, read_api_key, resolve_base_url
from tejat.models.gemini.errors import parse_api_error
from tejat.models.gemini.request import GeminiEncoder
from tejat.models.gemini.response import GeminiResponseReader
from tejat.models.http_errors import failure_from_http, parse_retry_after, protocol_failure
from tejat.models.names import context_window
from tejat.models.token_estimate import estimate_tokens
from tejat.models.wire.encoding_cache import EncodingCache, JoinedMessages, encode_within_limit
from tejat.models.wire.json_access import as_object, parse_json_or_text
from tejat.models.wire.redact import safe_text
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.sse import MAX_EVENT_BYTES, MAX_STREAM_BYTES, EventTooLong, SseParser
from tejat.workspace.http.types import HttpFailure, HttpLimits, HttpResponse

_KEY_VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
_SIGNATURE_ERROR = re.compile(r"thought.?signature", re.IGNORECASE)
_MAX_REQUEST_BYTES = 19_000_000
"""The service takes 20 MB, and there is more in a request than its messages."""
_MAX_ERROR_BYTES = 2**20


class GeminiEndpoint(Protocol):
    """Where a Gemini model is served, and what the service wants to be told besides."""

    def url(self, method: str) -> str:
        """The URL of one method of the model."""
        ...

    async def headers(self) -> Mapping[str, str]:
        """What says who asks. Raises ModelFailure when nobody can be named."""
        ...

    @property
    def secrets(self) -> Sequence[str]:
        """What no message may show."""
        ...

    def count_tokens_body(self, contents: bytes, rest: bytes) -> Sequence[bytes]:
        """The body that asks for a count of tokens."""
        ...


def open_gemini(model: str, options: ModelOptions) -> "GeminiClient":
    """A model of the Gemini API by `GEMINI_API_KEY` or `GOOGLE_API_KEY`.

    Raises ModelFailure when neither is set, and UsageError for what can be no key or an address that no key may go to.
    """
    key = next((found for name in _KEY_VARIABLES if (found := read_api_key(options, name))), None)
    if key is None:
        raise ModelFailure(
            gettext_lazy(
                "There is no key for the model {model}. Set GEMINI_API_KEY; you get one at https://aistudio.google.com/apikey",
                model=model,
            ),
            FailureKind.NO_KEY,
        )
    base = resolve_base_url(options, variable="GOOGLE_GEMINI_BASE_URL", default=GEMINI_BASE_URL, has_key=True)
    version = api_version(options, default="v1beta")
    return GeminiClient(model, _ApiKeyEndpoint(model, key, f"{base}/{version}"), options)


def api_version(options: ModelOptions, *, default: str) -> str:
    """The version of the interface, by `GOOGLE_GENAI_API_VERSION`. Raises UsageError for what can be none."""
    version = options.environment.get("GOOGLE_GENAI_API_VERSION", "").strip()
    if not version or version == "beta":
        return default
    if not version.isalnum() or not version.isascii():
        raise UsageError(gettext_lazy("GOOGLE_GENAI_API_VERSION is not a version."))
    return version


class _ApiKeyEndpoint:
    def __init__(self, model: str, key: str, base: str) -> None:
        self._resource = model if "/" in model else f"models/{model}"
        self._key = key
        self._base = base

    def url(self, method: str) -> str:
        return f"{self._base}/{quote(self._resource, safe='/')}:{method}"

    async def headers(self) -> Mapping[str, str]:
        return {"x-goog-api-key": self._key}

    @property
    def secrets(self) -> Sequence[str]:
        return (self._key,)

    def count_tokens_body(self, contents: bytes, rest: bytes) -> Sequence[bytes]:
        model = f'{{"generateContentRequest":{{"model":"{self._resource}",'
        return (model.encode(), b'"contents":[', contents, b"]", rest, b"}}")


class GeminiClient:
    """One model behind an endpoint. A message is encoded once, however often it is sent."""

    def __init__(self, model: str, endpoint: GeminiEndpoint, options: ModelOptions) -> None:
        self._model = model
        self._endpoint = endpoint
        self._encoder = GeminiEncoder(model)
        self._cache = EncodingCache(self._encoder.encode_message)
        self._lean_cache = EncodingCache(partial(self._encoder.encode_message, media=False))
        self._joined_contents = JoinedMessages(self._cache)
        self._without_signature: WeakSet[Message] = WeakSet()
        self._http = HttpClient(
            environment=options.environment, limits=options.http_limits or HttpLimits(body=MAX_STREAM_BYTES)
        )
        if endpoint.url("").startswith("https:"):
            self._http.warm_up()
        self._cached_fields: tuple[object, bytes] = (None, b"")

    @property
    def name(self) -> str:
        return self._model

    @property
    def context_window(self) -> int:
        return context_window(self._model)

    @property
    def capabilities(self) -> frozenset[Capability]:
        return frozenset(Capability)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        reader = GeminiResponseReader(self._endpoint.secrets, request.tools)
        body = (b'{"contents":[', *self._contents(request), b"]", self._request_fields(request), b"}")
        address = f"{self._endpoint.url('streamGenerateContent')}?alt=sse"
        try:
            async with self._http.request("POST", address, headers=await self._headers(), body=body) as response:
                if response.status != 200:
                    raise self._drop_signatures(request, await self._api_error(response))
                kind = (response.headers.get("content-type") or "").partition(";")[0].strip().lower()
                if kind == "application/json":
                    for delta in reader.read(await response.read(MAX_EVENT_BYTES)):
                        yield delta
                elif kind == "text/event-stream":
                    parser = SseParser()
                    async for piece in response:
                        for event in parser.feed(piece):
                            for delta in reader.read(event.data):
                                yield delta
                    for event in parser.end():
                        for delta in reader.read_tail(event.data):
                            yield delta
                else:
                    raise protocol_failure(
                        gettext_lazy(
                            "it is of the type {kind}", kind=safe_text(kind, max_length=60) or gettext_lazy("unknown")
                        )
                    )
        except HttpFailure as failure:
            raise failure_from_http(failure) from None
        except EventTooLong as error:
            raise protocol_failure(str(error)) from None
        yield reader.response()

    async def count_tokens(self, request: ModelRequest) -> int:
        """By the service, or an estimate where it does not tell."""
        try:
            return await self._count_tokens(request)
        except (ModelFailure, HttpFailure):
            return estimate_tokens(request)

    async def close(self) -> None:
        await self._http.close()

    async def _count_tokens(self, request: ModelRequest) -> int:
        contents = b"".join(self._contents(request))
        body = self._endpoint.count_tokens_body(contents, self._encoder.encode_prompt_fields(request))
        address = self._endpoint.url("countTokens")
        async with self._http.request("POST", address, headers=await self._headers(), body=body) as response:
            if response.status != 200:
                raise await self._api_error(response)
            total = as_object(parse_json_or_text(await response.read(_MAX_ERROR_BYTES))).get("totalTokens")
        return total if isinstance(total, int) and total > 0 else estimate_tokens(request)

    def _contents(self, request: ModelRequest) -> Sequence[bytes]:
        blocks = self._joined_contents.blocks(request.messages)
        if sum(map(len, blocks)) <= _MAX_REQUEST_BYTES:
            return blocks
        return [
            b",".join(
                encode_within_limit(request.messages, self._cache, self._lean_cache, max_bytes=_MAX_REQUEST_BYTES)
            )
        ]

    def _request_fields(self, request: ModelRequest) -> bytes:
        """From turn to turn it is the same; only the last is kept."""
        made_of = (
            request.system,
            request.tools,
            request.response_schema,
            request.capabilities,
            request.max_output_tokens,
            request.temperature,
        )
        if self._cached_fields[0] != made_of:
            self._cached_fields = (made_of, self._encoder.encode_request_fields(request))
        return self._cached_fields[1]

    def _drop_signatures(self, request: ModelRequest, failure: ModelFailure) -> ModelFailure:
        """Signatures that another model made, or that a gateway lost, are refused: the next attempt is without them."""
        signed = [message for message in request.messages if message not in self._without_signature]
        if failure.kind is not FailureKind.BAD_REQUEST or not signed or not _SIGNATURE_ERROR.search(failure.message):
            return failure
        for message in signed:
            self._without_signature.add(message)
            self._cache.put(message, self._encoder.encode_message(message, signed=False))
            self._lean_cache.put(message, self._encoder.encode_message(message, signed=False, media=False))
        self._joined_contents.clear()
        return ModelFailure(failure.message, failure.kind, status=failure.status, retry_after=0.0, can_retry=True)

    async def _headers(self) -> Mapping[str, str]:
        return {"content-type": "application/json", **await self._endpoint.headers()}

    async def _api_error(self, response: HttpResponse) -> ModelFailure:
        try:
            body = parse_json_or_text(await response.read(_MAX_ERROR_BYTES))
        except HttpFailure:
            # The status says enough.
            body = ""
        wait = parse_retry_after(response.headers, time.time)
        return parse_api_error(body, status=response.status, retry_after=wait, secrets=self._endpoint.secrets)
