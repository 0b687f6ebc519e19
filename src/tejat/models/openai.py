"""Models that are asked by OpenAI's chat completions: those of OpenAI, of Ollama, llama.cpp, vLLM and many others."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from urllib.parse import urlsplit

from tejat.core.model import Ability, Chunk, FailureKind, ModelClient, ModelFailure, ModelRequest
from tejat.core.value import replace
from tejat.core.words import phrase
from tejat.models import ModelOptions
from tejat.models.address import OPENAI_ADDRESS, base_address, read_key
from tejat.models.encoded import Encoded, fitted
from tejat.models.estimate import estimate_tokens
from tejat.models.exchange import Exchange
from tejat.models.names import context_window
from tejat.models.openai_answer import OpenAiAnswer
from tejat.models.openai_wire import CLOSING, Dialect, LimitField, encode_message, learned, opening
from tejat.models.refusals import Asked

_MOST_REQUEST_BYTES = 45 * 10**6
_MISUNDERSTOOD = frozenset({400, 422})


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
    key = read_key(options, key_name)
    if not key and needs_key:
        raise ModelFailure(
            phrase("There is no key for the model {model}. Set {key_name}.", model=model, key_name=key_name),
            FailureKind.NO_KEY,
        )
    if base_url is None:
        base_url = base_address(options, variable="OPENAI_BASE_URL", usual=OPENAI_ADDRESS, has_key=bool(key))
    return OpenAi(Asked(model, key_name, key), base_url.rstrip("/"), options)


class OpenAi:
    """One model of one server. What the server does not take is learned from its refusals and left out from then on."""

    def __init__(self, asked: Asked, base: str, options: ModelOptions) -> None:
        self._asked = asked
        self._address = f"{base}/chat/completions"
        is_original = urlsplit(base).hostname == "api.openai.com"
        self._dialect = Dialect(limit=LimitField.NEW if is_original else LimitField.OLD)
        self._is_understood = is_original
        self._encoders: dict[tuple[bool, bool], Encoded] = {}
        self._last_opening: tuple[object, bytes] = (None, b"")
        headers = {"authorization": f"Bearer {asked.key}"} if asked.key else {}
        self._exchange = Exchange(asked, headers, options)
        if base.startswith("https:"):
            self._exchange.warm_up()

    @property
    def name(self) -> str:
        return self._asked.model

    @property
    def context_window(self) -> int:
        return context_window(self._asked.model)

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        dialect = self._dialect
        tried = {dialect}
        while True:
            has_answered = False
            reader = OpenAiAnswer(request.tools, self._asked)
            answer = self._exchange.stream(self._address, self._body(request, dialect), reader)
            try:
                async with aclosing(answer) as chunks:
                    async for chunk in chunks:
                        has_answered = True
                        yield chunk
            except ModelFailure as failure:
                taught = None if has_answered else self._taught(dialect, request, failure)
                if taught is None or taught in tried:
                    raise
                dialect = taught
                tried.add(taught)
            else:
                self._dialect, self._is_understood = dialect, True
                return

    async def count_tokens(self, request: ModelRequest) -> int:
        """An estimate: there is no counting without answering here."""
        return estimate_tokens(request)

    async def close(self) -> None:
        await self._exchange.close()

    def _body(self, request: ModelRequest, dialect: Dialect) -> list[bytes]:
        encoded = self._encoder(dialect)
        lean = self._encoder(replace(dialect, media=False))
        body = [self._opening(request, dialect)]
        for piece in fitted(request.messages, encoded, lean, most=_MOST_REQUEST_BYTES):
            body += (piece, b",")
        body[-1] = CLOSING
        return body

    def _encoder(self, dialect: Dialect) -> Encoded:
        key = (dialect.thoughts, dialect.media)
        if key not in self._encoders:
            self._encoders[key] = Encoded(partial(encode_message, dialect=dialect))
        return self._encoders[key]

    def _opening(self, request: ModelRequest, dialect: Dialect) -> bytes:
        """From turn to turn it is the same; only the last is kept."""
        made_of = (
            request.system,
            request.tools,
            request.answer_schema,
            request.most_output_tokens,
            request.temperature,
            dialect,
        )
        if self._last_opening[0] != made_of:
            self._last_opening = (made_of, opening(self._asked.model, request, dialect))
        return self._last_opening[1]

    def _taught(self, dialect: Dialect, request: ModelRequest, failure: ModelFailure) -> Dialect | None:
        """What to try after a refusal. A server never heard of may stumble over the wish to count, and not say so."""
        if failure.kind is not FailureKind.BAD_REQUEST or failure.status not in _MISUNDERSTOOD:
            return None
        taught = learned(dialect, request, failure.message)
        if taught is None and dialect.usage and not self._is_understood:
            return replace(dialect, usage=False)
        return taught
