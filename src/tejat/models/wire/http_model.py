"""Base classes of the model clients that talk to an HTTP service."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from tejat.core.i18n import join_lazy, lazy
from tejat.core.messages.tokens import estimate_request_tokens
from tejat.core.model import Capability, Chunk, FailureKind, ModelFailure, ModelRequest, ModelResponse
from tejat.models import ModelOptions
from tejat.models.catalogue.catalogue_file import builtin_catalogue, load_catalogue
from tejat.models.wire.sse_client import AuthHeaders, ErrorParser, ResponseReader, SseClient
from tejat.workspace.http.types import HttpLimits

if TYPE_CHECKING:
    from tejat.models.wire.api_errors import ModelTarget

_Dialect = TypeVar("_Dialect")
_ADAPTABLE_STATUSES = frozenset({400, 422})


class HttpModel:
    """One model of one service: its name, its connection, and the part of a request that rarely changes."""

    capabilities: frozenset[Capability] = frozenset()

    def __init__(
        self, model: str, url: str, options: ModelOptions, *, headers: AuthHeaders, parse_error: ErrorParser
    ) -> None:
        self.name = model
        self.context_window = load_catalogue(options.catalogue).context_window(model)
        self._url = url
        self._sse = SseClient(options, headers, partial(_parse_error, parse_error, model))
        self._cached_head: tuple[object, bytes] = (None, b"")
        if url.startswith("https:"):
            self._sse.warm_up()

    async def prepare(self) -> Sequence[str]:
        """Nothing to find out: the windows of public services are known."""
        return ()

    async def count_tokens(self, request: ModelRequest) -> int:
        """Return an estimate. Services that count override this."""
        return estimate_request_tokens(request)

    async def close(self) -> None:
        await self._sse.close()

    def _head(self, request: ModelRequest, encode: Callable[[], bytes], *others: object) -> bytes:
        """Return the encoded head of a request, from the cache if it is that of the last request with tools.

        `others` is what it depends on besides the request.
        """
        if not request.tools:
            return encode()
        key = (
            request.system,
            request.tools,
            request.response_schema,
            request.capabilities,
            request.max_output_tokens,
            request.temperature,
            request.generation,
            *others,
        )
        if self._cached_head[0] != key:
            self._cached_head = (key, encode())
        return self._cached_head[1]


def _parse_error(
    parse: ErrorParser, model: str, body: object, *, status: int, retry_after: float | None
) -> ModelFailure:
    """Convert an error response, and name similar models if there is none of this name."""
    failure = parse(body, status=status, retry_after=retry_after)
    similar = builtin_catalogue().similar_models(model) if failure.is_unknown_model else ()
    if not similar:
        return failure
    advice = lazy("Did you mean {names}?", names=join_lazy(lazy(" or "), similar))
    return ModelFailure(join_lazy(" ", (failure.message, advice)), failure.kind, status=failure.status)


class AdaptiveHttpModel(HttpModel, ABC, Generic[_Dialect]):
    """A model whose server may not support everything.

    What the server rejects is learned from its errors, kept in the dialect, and left out from then on.
    """

    def __init__(
        self, target: ModelTarget, url: str, options: ModelOptions, *, headers: Mapping[str, str], dialect: _Dialect
    ) -> None:
        from tejat.models.wire.api_errors import parse_api_error

        async def auth_headers() -> Mapping[str, str]:
            return headers

        parse_error = partial(parse_api_error, target=target)
        super().__init__(target.model, url, options, headers=auth_headers, parse_error=parse_error)
        self._target = target
        self._dialect = dialect
        self._has_answered = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        dialect = self._dialect
        tried = {dialect}
        while True:
            is_answering = False
            reader, body = self._reader(request, dialect), self._body(request, dialect)
            try:
                events = self._sse.stream(self._url, body, reader, limits=self._limits(request))
                async with aclosing(events) as chunks:
                    async for chunk in chunks:
                        is_answering = True
                        if isinstance(chunk, ModelResponse):
                            # Before it is passed on: nobody reads further.
                            self._dialect, self._has_answered = dialect, True
                        yield chunk
            except ModelFailure as failure:
                is_rejected = failure.kind is FailureKind.BAD_REQUEST and failure.status in _ADAPTABLE_STATUSES
                adapted = self._adapt(dialect, request, failure.message) if is_rejected and not is_answering else None
                if adapted is None or (adapted != dialect and adapted in tried):
                    raise
                dialect = adapted
                tried.add(dialect)
            else:
                return

    def _limits(self, request: ModelRequest) -> HttpLimits | None:
        """Return the limits for a request, None for the usual ones."""
        return None

    @abstractmethod
    def _reader(self, request: ModelRequest, dialect: _Dialect) -> ResponseReader: ...

    @abstractmethod
    def _body(self, request: ModelRequest, dialect: _Dialect) -> Sequence[bytes]: ...

    @abstractmethod
    def _adapt(self, dialect: _Dialect, request: ModelRequest, error: str) -> _Dialect | None:
        """Return what to try next after the server has rejected the request; None if nothing is left to try.

        The same dialect means that something else has changed, and the request is worth sending again.
        """
