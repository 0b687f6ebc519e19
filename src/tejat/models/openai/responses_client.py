"""Client of OpenAI's Responses API."""

import os
from collections.abc import Mapping
from functools import partial
from weakref import WeakSet

from tejat.core.messages.history import Message
from tejat.core.messages.types import Opaque
from tejat.core.model import ModelRequest
from tejat.models import ModelOptions
from tejat.models.openai.responses_reader import ResponsesReader
from tejat.models.openai.responses_request import (
    BODY_TAIL,
    ResponsesDialect,
    adapt_dialect,
    dialect_for_model,
    encode_head,
    encode_message,
    is_reasoning_error,
)
from tejat.models.wire.api_errors import ModelTarget
from tejat.models.wire.encoding_cache import EncodingCache, encode_within_limit
from tejat.models.wire.http_model import AdaptiveHttpModel

_MAX_REQUEST_BYTES = 45 * 10**6


class ResponsesClient(AdaptiveHttpModel[ResponsesDialect]):
    """One model of one server. `url` is that of the responses, `headers` authenticate a request."""

    def __init__(self, target: ModelTarget, url: str, options: ModelOptions, *, headers: Mapping[str, str]) -> None:
        super().__init__(target, url, options, headers=headers, dialect=dialect_for_model(target.model))
        self._cache_key = f"tejat-{os.urandom(8).hex()}"
        self._encoders: dict[tuple[bool, bool], EncodingCache] = {}
        self._without_reasoning: WeakSet[Message] = WeakSet()

    def _reader(self, request: ModelRequest, dialect: ResponsesDialect) -> ResponsesReader:
        return ResponsesReader(request.tools, self._target)

    def _body(self, request: ModelRequest, dialect: ResponsesDialect) -> list[bytes]:
        encode = partial(encode_head, self.name, request, dialect, cache_key=self._cache_key)
        # Side requests have another prompt: without tools, and mostly without a history.
        with_reasoning = dialect.reasons and bool(request.tools)
        cache = self._encoder(with_reasoning=with_reasoning, media=dialect.supports_media)
        lean = self._encoder(with_reasoning=False, media=False)
        body = [self._head(request, encode, dialect)]
        for piece in encode_within_limit(request.messages, cache, lean, max_bytes=_MAX_REQUEST_BYTES):
            body += (piece, b",")
        body[-1] = BODY_TAIL
        return body

    def _encoder(self, *, with_reasoning: bool, media: bool) -> EncodingCache:
        key = (with_reasoning, media)
        if key not in self._encoders:
            reasoning_model = self.name if with_reasoning else None
            self._encoders[key] = EncodingCache(partial(encode_message, reasoning_model=reasoning_model, media=media))
        return self._encoders[key]

    def _adapt(self, dialect: ResponsesDialect, request: ModelRequest, error: str) -> ResponsesDialect | None:
        if is_reasoning_error(error) and self._drop_reasoning(request):
            return dialect
        return adapt_dialect(dialect, request, error)

    def _drop_reasoning(self, request: ModelRequest) -> bool:
        """Stop sending the reasoning of these messages. False: there is none that was still sent."""
        thoughtful = [
            message
            for message in request.messages
            if message not in self._without_reasoning and any(isinstance(part, Opaque) for part in message.parts)
        ]
        for message in thoughtful:
            self._without_reasoning.add(message)
            for media in (True, False):
                plain = encode_message(message, reasoning_model=None, media=media)
                self._encoder(with_reasoning=True, media=media).put(message, plain)
        return bool(thoughtful)
