"""Client of the Chat Completions API, as served by OpenAI, Ollama, llama.cpp, vLLM and many others."""

from functools import partial
from urllib.parse import urlsplit

from tejat.core.frozen import replace
from tejat.core.i18n import lazy
from tejat.core.model import FailureKind, ModelClient, ModelFailure, ModelRequest
from tejat.models import ModelOptions
from tejat.models.base_url import OPENAI_BASE_URL, read_api_key, resolve_base_url
from tejat.models.openai.request import (
    BODY_TAIL,
    OpenAIDialect,
    OutputLimitField,
    adapt_dialect,
    encode_head,
    encode_message,
)
from tejat.models.openai.response import OpenAIResponseReader
from tejat.models.wire.api_errors import ModelTarget
from tejat.models.wire.encoding_cache import EncodingCache, encode_within_limit
from tejat.models.wire.http_model import AdaptiveHttpModel

_MAX_REQUEST_BYTES = 45 * 10**6


def open_openai(
    model: str,
    options: ModelOptions,
    *,
    base_url: str | None = None,
    key_name: str = "OPENAI_API_KEY",
    needs_key: bool = True,
) -> ModelClient:
    """Create a client for `base_url`, `OPENAI_BASE_URL` or OpenAI, with the key in the variable `key_name`.

    Raises ModelFailure for a missing key that is needed, and UsageError for an invalid URL or key.
    """
    key = read_api_key(options, key_name)
    if not key and needs_key:
        message = lazy("There is no key for the model {model}. Set {key_name}.", model=model, key_name=key_name)
        raise ModelFailure(message, FailureKind.NO_KEY)
    if base_url is None:
        base_url = resolve_base_url(options, variable="OPENAI_BASE_URL", default=OPENAI_BASE_URL, has_key=bool(key))
    return OpenAIClient(ModelTarget(model, key_name, key), base_url.rstrip("/"), options)


class OpenAIClient(AdaptiveHttpModel[OpenAIDialect]):
    """One model of one server."""

    def __init__(self, target: ModelTarget, base: str, options: ModelOptions) -> None:
        is_openai = urlsplit(base).hostname == "api.openai.com"
        limit_field = OutputLimitField.MAX_COMPLETION_TOKENS if is_openai else OutputLimitField.MAX_TOKENS
        super().__init__(
            target,
            f"{base}/chat/completions",
            options,
            headers={"authorization": f"Bearer {target.key}"} if target.key else {},
            dialect=OpenAIDialect(limit_field=limit_field),
        )
        self._has_answered = is_openai
        self._encoders: dict[tuple[bool, bool], EncodingCache] = {}

    def _reader(self, request: ModelRequest, dialect: OpenAIDialect) -> OpenAIResponseReader:
        return OpenAIResponseReader(request.tools, self._target)

    def _body(self, request: ModelRequest, dialect: OpenAIDialect) -> list[bytes]:
        cache = self._encoder(dialect)
        lean = self._encoder(replace(dialect, supports_media=False))
        body = [self._head(request, partial(encode_head, self.name, request, dialect), dialect)]
        for piece in encode_within_limit(request.messages, cache, lean, max_bytes=_MAX_REQUEST_BYTES):
            body += (piece, b",")
        body[-1] = BODY_TAIL
        return body

    def _encoder(self, dialect: OpenAIDialect) -> EncodingCache:
        key = (dialect.returns_reasoning, dialect.supports_media)
        if key not in self._encoders:
            self._encoders[key] = EncodingCache(partial(encode_message, dialect=dialect))
        return self._encoders[key]

    def _adapt(self, dialect: OpenAIDialect, request: ModelRequest, error: str) -> OpenAIDialect | None:
        adapted = adapt_dialect(dialect, request, error)
        if adapted is None and dialect.supports_usage and not self._has_answered:
            # An unknown server may reject the request for usage figures without saying so.
            return replace(dialect, supports_usage=False)
        return adapted
