"""Models that are asked by OpenAI's chat completions: those of OpenAI, of Ollama, llama.cpp, vLLM and many others."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from urllib.parse import urlsplit

from tejat.core.frozen import replace
from tejat.core.i18n import gettext_lazy
from tejat.core.model import Capability, Chunk, FailureKind, ModelClient, ModelFailure, ModelRequest
from tejat.models import ModelOptions
from tejat.models.base_url import OPENAI_BASE_URL, read_api_key, resolve_base_url
from tejat.models.names import context_window
from tejat.models.openai.request import (
    BODY_TAIL,
    OpenAIDialect,
    OutputLimitField,
    adapt_dialect,
    encode_head,
    encode_message,
)
from tejat.models.openai.response import OpenAIResponseReader
from tejat.models.token_estimate import estimate_tokens
from tejat.models.wire.api_errors import ModelTarget
from tejat.models.wire.encoding_cache import EncodingCache, encode_within_limit
from tejat.models.wire.sse_client import SseClient

_MAX_REQUEST_BYTES = 45 * 10**6
_ADAPTABLE_STATUSES = frozenset({400, 422})


def open_openai(
    model: str,
    options: ModelOptions,
    *,
    base_url: str | None = None,
    key_name: str = "OPENAI_API_KEY",
    needs_key: bool = True,
) -> ModelClient:
    """A model at `base_url`, else at `OPENAI_BASE_URL`, else at OpenAI, by the key in the variable `key_name`.

    Raises ModelFailure when there must be a key and is none, and UsageError for an address or a key that is none.
    """
    key = read_api_key(options, key_name)
    if not key and needs_key:
        raise ModelFailure(
            gettext_lazy("There is no key for the model {model}. Set {key_name}.", model=model, key_name=key_name),
            FailureKind.NO_KEY,
        )
    if base_url is None:
        base_url = resolve_base_url(options, variable="OPENAI_BASE_URL", default=OPENAI_BASE_URL, has_key=bool(key))
    return OpenAIClient(ModelTarget(model, key_name, key), base_url.rstrip("/"), options)


class OpenAIClient:
    """One model of one server. What the server does not take is learned from its refusals and left out from then on."""

    def __init__(self, target: ModelTarget, base: str, options: ModelOptions) -> None:
        self._target = target
        self._url = f"{base}/chat/completions"
        is_original = urlsplit(base).hostname == "api.openai.com"
        self._dialect = OpenAIDialect(
            limit_field=OutputLimitField.MAX_COMPLETION_TOKENS if is_original else OutputLimitField.MAX_TOKENS
        )
        self._has_answered = is_original
        self._encoders: dict[tuple[bool, bool], EncodingCache] = {}
        self._cached_head: tuple[object, bytes] = (None, b"")
        headers = {"authorization": f"Bearer {target.key}"} if target.key else {}
        self._sse = SseClient(target, headers, options)
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
        tried = {dialect}
        while True:
            has_answered = False
            reader = OpenAIResponseReader(request.tools, self._target)
            answer = self._sse.stream(self._url, self._body(request, dialect), reader)
            try:
                async with aclosing(answer) as chunks:
                    async for chunk in chunks:
                        has_answered = True
                        yield chunk
            except ModelFailure as failure:
                taught = None if has_answered else self._adapt_dialect(dialect, request, failure)
                if taught is None or taught in tried:
                    raise
                dialect = taught
                tried.add(taught)
            else:
                self._dialect, self._has_answered = dialect, True
                return

    async def count_tokens(self, request: ModelRequest) -> int:
        """An estimate: there is no counting without answering here."""
        return estimate_tokens(request)

    async def close(self) -> None:
        await self._sse.close()

    def _body(self, request: ModelRequest, dialect: OpenAIDialect) -> list[bytes]:
        encoded = self._encoder(dialect)
        lean = self._encoder(replace(dialect, supports_media=False))
        body = [self._head(request, dialect)]
        for piece in encode_within_limit(request.messages, encoded, lean, max_bytes=_MAX_REQUEST_BYTES):
            body += (piece, b",")
        body[-1] = BODY_TAIL
        return body

    def _encoder(self, dialect: OpenAIDialect) -> EncodingCache:
        key = (dialect.returns_reasoning, dialect.supports_media)
        if key not in self._encoders:
            self._encoders[key] = EncodingCache(partial(encode_message, dialect=dialect))
        return self._encoders[key]

    def _head(self, request: ModelRequest, dialect: OpenAIDialect) -> bytes:
        """From turn to turn it is the same; only the last is kept."""
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

    def _adapt_dialect(
        self, dialect: OpenAIDialect, request: ModelRequest, failure: ModelFailure
    ) -> OpenAIDialect | None:
        """What to try after a refusal. A server never heard of may stumble over the wish to count, and not say so."""
        if failure.kind is not FailureKind.BAD_REQUEST or failure.status not in _ADAPTABLE_STATUSES:
            return None
        taught = adapt_dialect(dialect, request, failure.message)
        if taught is None and dialect.supports_usage and not self._has_answered:
            return replace(dialect, supports_usage=False)
        return taught
