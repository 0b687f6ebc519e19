"""Anthropic's models over its messages interface."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from weakref import WeakSet

from tejat.core.i18n import gettext_lazy
from tejat.core.messages.history import Message, Role
from tejat.core.messages.types import Opaque
from tejat.core.model import Capability, Chunk, FailureKind, ModelClient, ModelFailure, ModelRequest
from tejat.models import ModelOptions
from tejat.models.anthropic.request import (
    BODY_TAIL,
    AnthropicDialect,
    AnthropicJsonMode,
    adapt_dialect,
    add_cache_control,
    dialect_for_model,
    encode_count_head,
    encode_head,
    encode_message,
    is_thinking_block_error,
)
from tejat.models.anthropic.response import AnthropicResponseReader
from tejat.models.base_url import ANTHROPIC_BASE_URL, read_api_key, resolve_base_url
from tejat.models.names import context_window
from tejat.models.token_estimate import estimate_tokens
from tejat.models.wire.api_errors import ModelTarget
from tejat.models.wire.encoding_cache import EncodingCache, encode_within_limit
from tejat.models.wire.json_access import as_count, as_object
from tejat.models.wire.sse_client import SseClient

_VERSION = "2023-06-01"
_KEY_VARIABLE, _TOKEN_VARIABLE = "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"
_MAX_REQUEST_BYTES = 30 * 10**6
_CACHED_MESSAGES = 2
"""The last is what the next request begins with; the one before it is what this request begins with."""


def open_anthropic(model: str, options: ModelOptions) -> ModelClient:
    """A model at `ANTHROPIC_BASE_URL`, else at Anthropic, by `ANTHROPIC_API_KEY` or `ANTHROPIC_AUTH_TOKEN`.

    Raises ModelFailure when there is no key, and UsageError for an address or a key that is none.
    """
    key, token = read_api_key(options, _KEY_VARIABLE), read_api_key(options, _TOKEN_VARIABLE)
    if not key and not token:
        raise ModelFailure(
            gettext_lazy("There is no key for the model {model}. Set {key}.", model=model, key=_KEY_VARIABLE),
            FailureKind.NO_KEY,
        )
    base = resolve_base_url(options, variable="ANTHROPIC_BASE_URL", default=ANTHROPIC_BASE_URL, has_key=True)
    target = ModelTarget(model, _KEY_VARIABLE, key) if key else ModelTarget(model, _TOKEN_VARIABLE, token)
    return AnthropicClient(target, base.removesuffix("/v1"), options)


class AnthropicClient:
    """One model. What the server does not take is learned from its refusals and left out from then on."""

    def __init__(self, target: ModelTarget, base: str, options: ModelOptions) -> None:
        self._target = target
        self._url = f"{base}/v1/messages"
        self._dialect = dialect_for_model(target.model)
        self._encoders: dict[tuple[bool, bool], EncodingCache] = {}
        self._without_thinking: WeakSet[Message] = WeakSet()
        self._cached_head: tuple[object, bytes] = (None, b"")
        who = (
            {"x-api-key": target.key} if target.key_name == _KEY_VARIABLE else {"authorization": f"Bearer {target.key}"}
        )
        self._sse = SseClient(target, {"anthropic-version": _VERSION, **who}, options)
        if base.startswith("https:"):
            self._sse.warm_up()

    @property
    def name(self) -> str:
        return self._target.model

    @property
    def context_window(self) -> int:
        return context_window(self._target.model)

    @property
    def capabilities(self) -> frozenset[Capability]:
        return frozenset()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        dialect = self._dialect
        while True:
            has_answered = False
            is_forced = request.response_schema is not None and dialect.json_modes[0] is AnthropicJsonMode.TOOL
            reader = AnthropicResponseReader(request.tools, self._target, is_forced=is_forced)
            body = [self._head(request, dialect), *self._messages(request, dialect)]
            try:
                async with aclosing(self._sse.stream(self._url, body, reader)) as chunks:
                    async for chunk in chunks:
                        has_answered = True
                        yield chunk
            except ModelFailure as failure:
                taught = None if has_answered else self._adapt_dialect(dialect, request, failure)
                if taught is None:
                    raise
                dialect = taught
            else:
                self._dialect = dialect
                return

    async def count_tokens(self, request: ModelRequest) -> int:
        """By the service, or an estimate where it does not tell."""
        body = [
            encode_count_head(self._target.model, request, self._dialect),
            *self._messages(request, self._dialect),
        ]
        try:
            counted = await self._sse.post(f"{self._url}/count_tokens", body)
        except ModelFailure:
            return estimate_tokens(request)
        return as_count(as_object(counted).get("input_tokens")) or estimate_tokens(request)

    async def close(self) -> None:
        await self._sse.close()

    def _head(self, request: ModelRequest, dialect: AnthropicDialect) -> bytes:
        """From turn to turn it is the same; only the last is kept."""
        if not request.tools:
            return encode_head(self._target.model, request, dialect)
        made_of = (
            request.system,
            request.tools,
            request.response_schema,
            request.max_output_tokens,
            request.temperature,
            dialect,
        )
        if self._cached_head[0] != made_of:
            self._cached_head = (made_of, encode_head(self._target.model, request, dialect))
        return self._cached_head[1]

    def _messages(self, request: ModelRequest, dialect: AnthropicDialect) -> list[bytes]:
        """All messages and the end of the request."""
        # Thoughts are bound to the tools that were there: on the side they would be refused.
        gives_thoughts_back = bool(request.tools) and request.response_schema is None
        encoded = self._encoder(gives_thoughts_back=gives_thoughts_back, media=dialect.supports_media)
        lean = self._encoder(gives_thoughts_back=False, media=False)
        pieces = encode_within_limit(request.messages, encoded, lean, max_bytes=_MAX_REQUEST_BYTES)
        if dialect.supports_caching:
            asking = [place for place, message in enumerate(request.messages) if message.role is Role.USER]
            for place in asking[-_CACHED_MESSAGES:]:
                pieces[place] = add_cache_control(pieces[place])
        body: list[bytes] = []
        for piece in pieces:
            body += (piece, b",")
        body[-1] = BODY_TAIL
        return body

    def _encoder(self, *, gives_thoughts_back: bool, media: bool) -> EncodingCache:
        key = (gives_thoughts_back, media)
        if key not in self._encoders:
            thinker = self._target.model if gives_thoughts_back else None
            self._encoders[key] = EncodingCache(partial(encode_message, thinking_model=thinker, media=media))
        return self._encoders[key]

    def _adapt_dialect(
        self, dialect: AnthropicDialect, request: ModelRequest, failure: ModelFailure
    ) -> AnthropicDialect | None:
        """What to try after a refusal."""
        if failure.kind is not FailureKind.BAD_REQUEST or failure.status != 400:
            return None
        if is_thinking_block_error(failure.message) and self._drop_thinking(request):
            return dialect
        return adapt_dialect(dialect, request, failure.message)

    def _drop_thinking(self, request: ModelRequest) -> bool:
        """Send what was thought so far no more; whether there is anything that was not forgotten yet."""
        thoughtful = [
            message
            for message in request.messages
            if message not in self._without_thinking and any(isinstance(part, Opaque) for part in message.parts)
        ]
        for message in thoughtful:
            self._without_thinking.add(message)
            for media in (True, False):
                plain = encode_message(message, thinking_model=None, media=media)
                self._encoder(gives_thoughts_back=True, media=media).put(message, plain)
        return bool(thoughtful)
