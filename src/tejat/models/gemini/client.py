"""Client of the Gemini API."""

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Protocol
from urllib.parse import quote
from weakref import WeakSet

from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.core.messages.history import Message
from tejat.core.messages.tokens import estimate_request_tokens
from tejat.core.model import Capability, Chunk, FailureKind, ModelFailure, ModelRequest
from tejat.models import ModelOptions
from tejat.models.base_url import GEMINI_BASE_URL, read_api_key, resolve_base_url
from tejat.models.gemini.headers import custom_headers, uses_bearer, with_headers
from tejat.models.gemini.request import GeminiEncoder, refused_values
from tejat.models.gemini.response import GeminiResponseReader
from tejat.models.wire.encoding_cache import EncodingCache, JoinedMessages, encode_within_limit
from tejat.models.wire.http_model import HttpModel
from tejat.models.wire.json_access import as_count, as_object

_KEY_VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
_SIGNATURE_ERROR = "(?i)thought.?signature"
_INVALID_ARGUMENT = 400
_MAX_REQUEST_BYTES = 19_000_000
"""The service accepts 20 MB, and a request holds more than its messages."""


class GeminiEndpoint(Protocol):
    """Where a Gemini model is served, and how requests are authenticated."""

    def url(self, method: str) -> str:
        """Return the URL of a method of the model."""
        ...

    async def headers(self) -> Mapping[str, str]:
        """Return the headers that authenticate a request. Raises ModelFailure without credentials."""
        ...

    @property
    def secrets(self) -> Sequence[str]:
        """Texts to mask in messages."""
        ...

    def count_tokens_body(self, contents: bytes, rest: bytes) -> Sequence[bytes]:
        """Return the body of a request to `countTokens`."""
        ...


def open_gemini(model: str, options: ModelOptions) -> "GeminiClient":
    """Create a client with `GEMINI_API_KEY` or `GOOGLE_API_KEY`.

    Raises ModelFailure when neither is set, and UsageError for an invalid key or an unsafe URL.
    """
    key = next((found for name in _KEY_VARIABLES if (found := read_api_key(options, name))), None)
    if key is None and options.needs_key:
        message = lazy(
            "No API key for {model}. Set GEMINI_API_KEY; get a key at https://aistudio.google.com/apikey",
            model=model,
        )
        raise ModelFailure(message, FailureKind.NO_KEY)
    base = resolve_base_url(options, variable="GOOGLE_GEMINI_BASE_URL", default=GEMINI_BASE_URL, has_key=bool(key))
    version = api_version(options, default="v1beta")
    is_bearer = uses_bearer(options.environment)
    endpoint = _ApiKeyEndpoint(model, key or "", f"{base}/{version}", is_bearer=is_bearer)
    return GeminiClient(model, endpoint, options)


def api_version(options: ModelOptions, *, default: str) -> str:
    """Return the API version from `GOOGLE_GENAI_API_VERSION`, or the default. Raises UsageError for an invalid one."""
    version = options.environment.get("GOOGLE_GENAI_API_VERSION", "").strip()
    if not version or version == "beta":
        return default
    if not version.isalnum() or not version.isascii():
        raise UsageError(lazy("GOOGLE_GENAI_API_VERSION is not a valid API version."))
    return version


class ApiKeyAuth:
    """Authentication with an API key, which is empty for a gateway without one."""

    def __init__(self, key: str, *, is_bearer: bool = False) -> None:
        self.secrets: Sequence[str] = (key,) if key else ()
        self._headers = {"authorization": f"Bearer {key}"} if is_bearer else {"x-goog-api-key": key}

    async def headers(self) -> Mapping[str, str]:
        return self._headers if self.secrets else {}


class _ApiKeyEndpoint(ApiKeyAuth):
    def __init__(self, model: str, key: str, base: str, *, is_bearer: bool) -> None:
        super().__init__(key, is_bearer=is_bearer)
        self._resource = model if "/" in model else f"models/{model}"
        self._base = base

    def url(self, method: str) -> str:
        return f"{self._base}/{quote(self._resource, safe='/')}:{method}"

    def count_tokens_body(self, contents: bytes, rest: bytes) -> Sequence[bytes]:
        model = f'{{"generateContentRequest":{{"model":"{self._resource}",'
        return (model.encode(), b'"contents":[', contents, b"]", rest, b"}}")


class GeminiClient(HttpModel):
    """One model behind an endpoint. Each message is encoded once, however often it is sent."""

    capabilities = frozenset(Capability)

    def __init__(self, model: str, endpoint: GeminiEndpoint, options: ModelOptions) -> None:
        self._endpoint = endpoint
        self._custom_headers = custom_headers(options.environment)
        url = f"{endpoint.url('streamGenerateContent')}?alt=sse"
        headers = with_headers(endpoint.headers, self._custom_headers)
        super().__init__(model, url, options, headers=headers, parse_error=self._parse_error)
        self._encoder = GeminiEncoder(model)
        self._cache = EncodingCache(self._encoder.encode_message)
        self._lean_cache = EncodingCache(partial(self._encoder.encode_message, media=False))
        self._joined_contents = JoinedMessages(self._cache)
        self._without_signature: WeakSet[Message] = WeakSet()
        self._refused: frozenset[str] = frozenset()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        while True:
            is_answering = False
            try:
                async with aclosing(self._stream_once(request)) as chunks:
                    async for chunk in chunks:
                        is_answering = True
                        yield chunk
            except ModelFailure as failure:
                if is_answering or not self._learn_refused(request, failure):
                    raise self._drop_signatures(request, failure) from None
            else:
                return

    async def _stream_once(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        reader = GeminiResponseReader(self._secrets, request.tools)
        encode = partial(self._encoder.encode_request_fields, request, self._refused)
        fields = self._head(request, encode, self._refused, request.purpose)
        body = (b'{"contents":[', *self._contents(request), b"]", fields, b"}")
        async with aclosing(self._sse.stream(self._url, body, reader)) as chunks:
            async for chunk in chunks:
                yield chunk

    def _learn_refused(self, request: ModelRequest, failure: ModelFailure) -> bool:
        """Leave out the generation settings that the service refuses from now on. False if there are no new ones."""
        if failure.kind is not FailureKind.BAD_REQUEST or failure.status != _INVALID_ARGUMENT:
            return False
        refused = refused_values(request, failure.message) - self._refused
        self._refused |= refused
        return bool(refused)

    async def count_tokens(self, request: ModelRequest) -> int:
        """Ask the service, or return an estimate if it does not count."""
        contents = b"".join(self._contents(request))
        body = self._endpoint.count_tokens_body(contents, self._encoder.encode_prompt_fields(request))
        try:
            counted = await self._sse.post(self._endpoint.url("countTokens"), body)
        except ModelFailure:
            counted = None
        return as_count(as_object(counted).get("totalTokens")) or estimate_request_tokens(request)

    def _contents(self, request: ModelRequest) -> Sequence[bytes]:
        blocks = self._joined_contents.blocks(request.messages)
        if sum(map(len, blocks)) <= _MAX_REQUEST_BYTES:
            return blocks
        pieces = encode_within_limit(request.messages, self._cache, self._lean_cache, max_bytes=_MAX_REQUEST_BYTES)
        return [b",".join(pieces)]

    def _drop_signatures(self, request: ModelRequest, failure: ModelFailure) -> ModelFailure:
        """Make a request that failed because of its thought signatures retryable, without them.

        The service rejects signatures of another model and those that a gateway has lost.
        """
        signed = [message for message in request.messages if message not in self._without_signature]
        if (
            failure.kind is not FailureKind.BAD_REQUEST
            or not signed
            or not re.search(_SIGNATURE_ERROR, failure.message)
        ):
            return failure
        for message in signed:
            self._without_signature.add(message)
            self._cache.put(message, self._encoder.encode_message(message, signed=False))
            self._lean_cache.put(message, self._encoder.encode_message(message, signed=False, media=False))
        self._joined_contents.clear()
        return ModelFailure(failure.message, failure.kind, status=failure.status, retry_after=0.0, can_retry=True)

    def _parse_error(self, body: object, *, status: int, retry_after: float | None) -> ModelFailure:
        from tejat.models.gemini.errors import parse_api_error

        return parse_api_error(body, status=status, retry_after=retry_after, secrets=self._secrets)

    @property
    def _secrets(self) -> Sequence[str]:
        return (*self._endpoint.secrets, *self._custom_headers.values())
