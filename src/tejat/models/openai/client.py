"""Client of the Chat Completions API, as served by OpenAI, Ollama, llama.cpp, vLLM and many others."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from urllib.parse import urlsplit

from tejat.core.frozen import replace
from tejat.core.i18n import lazy
from tejat.core.messages.tokens import estimate_request_tokens
from tejat.core.model import Chunk, FailureKind, ModelClient, ModelFailure, ModelRequest, ModelResponse
from tejat.core.text.str_enum import StrEnum
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
from tejat.models.openai.served_model import ServedModel, fetch_served_model, is_local_server
from tejat.models.wire.api_errors import ModelTarget
from tejat.models.wire.encoding_cache import EncodingCache, encode_within_limit
from tejat.models.wire.http_model import AdaptiveHttpModel
from tejat.workspace.http.client import HttpClient
from tejat.workspace.http.sse import MAX_STREAM_BYTES
from tejat.workspace.http.types import HttpLimits

_OPENAI_HOST = "api.openai.com"
"""The host of OpenAI. Those of its regions end with it."""
_MAX_REQUEST_BYTES = 45 * 10**6
_LOCAL_TOKENS_PER_SECOND = 4
"""How slowly a local server may read a prompt."""
_MIN_PROMPT_SHARE = 0.6
"""A prompt that a server counts as less than this share of the estimate cannot have included the tools."""


def open_openai(
    model: str,
    options: ModelOptions,
    *,
    base_url: str | None = None,
    key_name: str = "OPENAI_API_KEY",
    needs_key: bool = True,
) -> ModelClient:
    """Create a client for `base_url`, `OPENAI_BASE_URL` or OpenAI, with the key in the variable `key_name`.

    OpenAI itself is asked through its Responses API, other servers through Chat Completions, unless the user chose one
    of them; a server at `base_url` always through the latter. Raises ModelFailure for a missing key that is needed, and
    UsageError for an invalid URL or key.
    """
    key = read_api_key(options, key_name)
    if not key and needs_key:
        message = lazy("No API key for {model}. Set {key_name}.", model=model, key_name=key_name)
        raise ModelFailure(message, FailureKind.NO_KEY)
    target = ModelTarget(model, key_name, key)
    headers = {"authorization": f"Bearer {key}"} if key else {}
    if base_url is not None:
        return OpenAIClient(target, base_url.rstrip("/"), options, headers=headers)
    base_url = resolve_base_url(options, variable="OPENAI_BASE_URL", default=OPENAI_BASE_URL, has_key=bool(key))
    default = OpenAIApi.RESPONSES if is_openai_url(base_url) else OpenAIApi.CHAT
    if (options.openai_api or default) == OpenAIApi.RESPONSES:
        from tejat.models.openai.responses_client import ResponsesClient

        return ResponsesClient(target, f"{base_url}/responses", options, headers=headers)
    return OpenAIClient(target, base_url, options, headers=headers)


class OpenAIApi(StrEnum):
    """The APIs of OpenAI, by their names in the setting `model.api`."""

    RESPONSES = "responses"
    CHAT = "chat"


def is_openai_url(base: str) -> bool:
    """Return whether a base URL is that of OpenAI itself."""
    host = urlsplit(base).hostname or ""
    return host == _OPENAI_HOST or host.endswith(f".{_OPENAI_HOST}")


class OpenAIClient(AdaptiveHttpModel[OpenAIDialect]):
    """One model of one server. `headers` authenticate a request; `query` ends its URL."""

    def __init__(
        self,
        target: ModelTarget,
        base: str,
        options: ModelOptions,
        *,
        headers: Mapping[str, str],
        query: str = "",
    ) -> None:
        is_openai = is_openai_url(base)
        limit_field = OutputLimitField.MAX_COMPLETION_TOKENS if is_openai else OutputLimitField.MAX_TOKENS
        super().__init__(
            target,
            f"{base}/chat/completions{query}",
            options,
            headers=headers,
            dialect=OpenAIDialect(limit_field=limit_field),
        )
        self._has_answered = is_openai
        self._encoders: dict[tuple[bool, bool, bool], EncodingCache] = {}
        self._base = base
        self._options = options
        self._is_local = is_local_server(base)
        self._server = ServedModel(is_final=False)
        self._inquiry: asyncio.Task[None] | None = None
        self._notices: tuple[str, ...] = ()

    async def prepare(self) -> Sequence[str]:
        """Ask a local server about the model: once, and again after its first answer if it was not loaded before."""
        if not self._is_local:
            return ()
        if self._inquiry is None or (self._has_answered and self._inquiry.done() and not self._server.is_final):
            self._inquiry = asyncio.create_task(self._ask_server(is_last=self._has_answered))
        await asyncio.shield(self._inquiry)
        return self._notices

    async def _ask_server(self, *, is_last: bool) -> None:
        http = HttpClient(environment=self._options.environment)
        try:
            headers = await self._sse.auth_headers()
            environment = self._options.environment
            server = await fetch_served_model(http, self._base, self.name, headers=headers, environment=environment)
        finally:
            await http.close()
        self._server = replace(server, is_final=server.is_final or is_last)
        self.context_window = server.context_window or self.context_window
        if server.supports_tools is False and not self._dialect.text_tools:
            self._dialect = replace(self._dialect, text_tools=True)
            self._notices = (_text_tools_notice(self.name),)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        checks_tools = self._is_local and not self._has_answered and self._server.supports_tools is None
        async with aclosing(super().stream(request)) as chunks:
            async for chunk in chunks:
                if checks_tools and isinstance(chunk, ModelResponse) and self._lacks_tools(request, chunk):
                    self._dialect = replace(self._dialect, text_tools=True)
                    kind = FailureKind.BAD_REQUEST
                    raise ModelFailure(_text_tools_notice(self.name), kind, retry_after=0.0, can_retry=True)
                yield chunk

    async def close(self) -> None:
        if self._inquiry is not None:
            self._inquiry.cancel()
        await super().close()

    def _lacks_tools(self, request: ModelRequest, answer: ModelResponse) -> bool:
        """Whether the server has dropped the tools: its prompt is too short to include them."""
        if not request.tools or answer.calls or not answer.usage.prompt or self._dialect.text_tools:
            return False
        return answer.usage.prompt < _MIN_PROMPT_SHARE * estimate_request_tokens(request)

    def _limits(self, request: ModelRequest) -> HttpLimits | None:
        """Wait longer for a local server the longer the prompt is: it may read only a few tokens a second."""
        if not self._is_local or self._options.http_limits is not None:
            return None
        usual = HttpLimits()
        patience = (usual.first_byte or 0) + estimate_request_tokens(request) / _LOCAL_TOKENS_PER_SECOND
        return HttpLimits(first_byte=patience, idle=patience, total=None, body=MAX_STREAM_BYTES)

    def _reader(self, request: ModelRequest, dialect: OpenAIDialect) -> OpenAIResponseReader:
        return OpenAIResponseReader(request.tools, self._target, writes_calls=dialect.text_tools)

    def _body(self, request: ModelRequest, dialect: OpenAIDialect) -> list[bytes]:
        cache = self._encoder(dialect)
        lean = self._encoder(replace(dialect, supports_media=False))
        body = [self._head(request, partial(encode_head, self.name, request, dialect), dialect)]
        for piece in encode_within_limit(request.messages, cache, lean, max_bytes=_MAX_REQUEST_BYTES):
            body += (piece, b",")
        body[-1] = BODY_TAIL
        return body

    def _encoder(self, dialect: OpenAIDialect) -> EncodingCache:
        key = (dialect.returns_reasoning, dialect.supports_media, dialect.text_tools)
        if key not in self._encoders:
            self._encoders[key] = EncodingCache(partial(encode_message, dialect=dialect))
        return self._encoders[key]

    def _adapt(self, dialect: OpenAIDialect, request: ModelRequest, error: str) -> OpenAIDialect | None:
        adapted = adapt_dialect(dialect, request, error)
        if adapted is None and dialect.supports_usage and not self._has_answered:
            # An unknown server may reject the request for usage figures without saying so.
            return replace(dialect, supports_usage=False)
        if adapted is not None and adapted.text_tools and not dialect.text_tools:
            self._notices = (_text_tools_notice(self.name),)
        return adapted


def _text_tools_notice(model: str) -> str:
    return lazy(
        "The server does not pass tools to {model} because its chat template has no tool "
        "support. Tejat describes the tools in the prompt and reads calls from the text. A model "
        "with tool support works better.",
        model=model,
    )
