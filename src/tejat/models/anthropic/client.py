"""Client of Anthropic's Messages API."""

from collections.abc import Mapping
from functools import partial
from weakref import WeakSet

from tejat.core.i18n import lazy
from tejat.core.messages.history import Message, Role
from tejat.core.messages.tokens import estimate_request_tokens
from tejat.core.messages.types import Opaque
from tejat.core.model import FailureKind, ModelClient, ModelFailure, ModelRequest
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
from tejat.models.wire.api_errors import ModelTarget
from tejat.models.wire.encoding_cache import EncodingCache, encode_within_limit
from tejat.models.wire.http_model import AdaptiveHttpModel
from tejat.models.wire.json_access import as_count, as_object

_VERSION = "2023-06-01"
_KEY_VARIABLE, _TOKEN_VARIABLE = "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"
_MAX_REQUEST_BYTES = 30 * 10**6
_CACHED_MESSAGES = 2
"""The last one ends the prefix of the next request, the one before it the prefix of this request."""


def open_anthropic(model: str, options: ModelOptions) -> ModelClient:
    """Create a client for `ANTHROPIC_BASE_URL` or Anthropic, with `ANTHROPIC_API_KEY` or `ANTHROPIC_AUTH_TOKEN`.

    Raises ModelFailure without a key, and UsageError for an invalid URL or key.
    """
    key, token = read_api_key(options, _KEY_VARIABLE), read_api_key(options, _TOKEN_VARIABLE)
    if not key and not token:
        message = lazy("No API key for {model}. Set {key}.", model=model, key=_KEY_VARIABLE)
        raise ModelFailure(message, FailureKind.NO_KEY)
    base = resolve_base_url(options, variable="ANTHROPIC_BASE_URL", default=ANTHROPIC_BASE_URL, has_key=True)
    target = ModelTarget(model, _KEY_VARIABLE, key) if key else ModelTarget(model, _TOKEN_VARIABLE, token)
    auth = {"x-api-key": key} if key else {"authorization": f"Bearer {token}"}
    url = f"{base.removesuffix('/v1')}/v1/messages"
    return AnthropicClient(target, url, options, headers={"anthropic-version": _VERSION, **auth})


class AnthropicClient(AdaptiveHttpModel[AnthropicDialect]):
    """One model of Anthropic, or of a server that speaks the same protocol."""

    def __init__(self, target: ModelTarget, url: str, options: ModelOptions, *, headers: Mapping[str, str]) -> None:
        super().__init__(target, url, options, headers=headers, dialect=dialect_for_model(target.model))
        self._encoders: dict[tuple[bool, bool], EncodingCache] = {}
        self._without_thinking: WeakSet[Message] = WeakSet()

    async def count_tokens(self, request: ModelRequest) -> int:
        """Ask the service, or return an estimate if it does not count."""
        head = encode_count_head(self.name, request, self._dialect)
        try:
            counted = await self._sse.post(f"{self._url}/count_tokens", [head, *self._messages(request, self._dialect)])
        except ModelFailure:
            counted = None
        return as_count(as_object(counted).get("input_tokens")) or estimate_request_tokens(request)

    def _reader(self, request: ModelRequest, dialect: AnthropicDialect) -> AnthropicResponseReader:
        is_forced = request.response_schema is not None and dialect.json_modes[0] is AnthropicJsonMode.TOOL
        return AnthropicResponseReader(request.tools, self._target, is_forced=is_forced)

    def _body(self, request: ModelRequest, dialect: AnthropicDialect) -> list[bytes]:
        head = self._head(request, partial(self._encode_head, request, dialect), dialect)
        return [head, *self._messages(request, dialect)]

    def _encode_head(self, request: ModelRequest, dialect: AnthropicDialect) -> bytes:
        return encode_head(self.name, request, dialect)

    def _messages(self, request: ModelRequest, dialect: AnthropicDialect) -> list[bytes]:
        """Encode all messages and the end of the request."""
        # Thinking blocks are bound to the declared tools: with others the service would reject them.
        with_thinking = bool(request.tools) and request.response_schema is None
        cache = self._encoder(with_thinking=with_thinking, media=dialect.supports_media)
        lean = self._encoder(with_thinking=False, media=False)
        pieces = encode_within_limit(request.messages, cache, lean, max_bytes=_MAX_REQUEST_BYTES)
        if dialect.supports_caching:
            prompts = [index for index, message in enumerate(request.messages) if message.role is Role.USER]
            for index in prompts[-_CACHED_MESSAGES:]:
                pieces[index] = add_cache_control(pieces[index])
        body: list[bytes] = []
        for piece in pieces:
            body += (piece, b",")
        body[-1] = BODY_TAIL
        return body

    def _encoder(self, *, with_thinking: bool, media: bool) -> EncodingCache:
        key = (with_thinking, media)
        if key not in self._encoders:
            thinking_model = self.name if with_thinking else None
            self._encoders[key] = EncodingCache(partial(encode_message, thinking_model=thinking_model, media=media))
        return self._encoders[key]

    def _adapt(self, dialect: AnthropicDialect, request: ModelRequest, error: str) -> AnthropicDialect | None:
        if is_thinking_block_error(error) and self._drop_thinking(request):
            return dialect
        return adapt_dialect(dialect, request, error)

    def _drop_thinking(self, request: ModelRequest) -> bool:
        """Stop sending the thinking blocks of these messages. False: there are none that were still sent."""
        thoughtful = [
            message
            for message in request.messages
            if message not in self._without_thinking and any(isinstance(part, Opaque) for part in message.parts)
        ]
        for message in thoughtful:
            self._without_thinking.add(message)
            for media in (True, False):
                plain = encode_message(message, thinking_model=None, media=media)
                self._encoder(with_thinking=True, media=media).put(message, plain)
        return bool(thoughtful)
