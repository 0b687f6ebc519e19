"""Anthropic's models over its messages interface."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from weakref import WeakSet

from tejat.core.history import Message, Role
from tejat.core.model import Ability, Chunk, FailureKind, ModelClient, ModelFailure, ModelRequest
from tejat.core.types import Opaque
from tejat.core.words import phrase
from tejat.models import ModelOptions
from tejat.models.address import ANTHROPIC_ADDRESS, base_address, read_key
from tejat.models.anthropic_answer import AnthropicAnswer
from tejat.models.anthropic_wire import (
    CLOSING,
    AnswerForm,
    Dialect,
    counting_opening,
    encode_message,
    is_about_old_thoughts,
    learned,
    marked_message,
    opening,
    usual_dialect,
)
from tejat.models.encoded import Encoded, fitted
from tejat.models.estimate import estimate_tokens
from tejat.models.exchange import Exchange
from tejat.models.json_shapes import count_of, object_of
from tejat.models.names import context_window
from tejat.models.refusals import Asked

_VERSION = "2023-06-01"
_KEY, _TOKEN = "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"
_MOST_REQUEST_BYTES = 30 * 10**6
_MARKED_MESSAGES = 2
"""The last is what the next request begins with; the one before it is what this request begins with."""


def open_anthropic(model: str, options: ModelOptions) -> ModelClient:
    """A model at `ANTHROPIC_BASE_URL`, else at Anthropic, by `ANTHROPIC_API_KEY` or `ANTHROPIC_AUTH_TOKEN`.

    Raises ModelFailure when there is no key, and UsageError for an address or a key that is none.
    """
    key, token = read_key(options, _KEY), read_key(options, _TOKEN)
    if not key and not token:
        raise ModelFailure(
            phrase("There is no key for the model {model}. Set {key}.", model=model, key=_KEY), FailureKind.NO_KEY
        )
    base = base_address(options, variable="ANTHROPIC_BASE_URL", usual=ANTHROPIC_ADDRESS, has_key=True)
    asked = Asked(model, _KEY, key) if key else Asked(model, _TOKEN, token)
    return Anthropic(asked, base.removesuffix("/v1"), options)


class Anthropic:
    """One model. What the server does not take is learned from its refusals and left out from then on."""

    def __init__(self, asked: Asked, base: str, options: ModelOptions) -> None:
        self._asked = asked
        self._address = f"{base}/v1/messages"
        self._dialect = usual_dialect(asked.model)
        self._encoders: dict[tuple[bool, bool], Encoded] = {}
        self._forgotten: WeakSet[Message] = WeakSet()
        self._last_opening: tuple[object, bytes] = (None, b"")
        who = {"x-api-key": asked.key} if asked.key_name == _KEY else {"authorization": f"Bearer {asked.key}"}
        self._exchange = Exchange(asked, {"anthropic-version": _VERSION, **who}, options)
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
        while True:
            has_answered = False
            is_forced = request.answer_schema is not None and dialect.forms[0] is AnswerForm.TOOL
            reader = AnthropicAnswer(request.tools, self._asked, is_forced=is_forced)
            body = [self._opening(request, dialect), *self._messages(request, dialect)]
            try:
                async with aclosing(self._exchange.stream(self._address, body, reader)) as chunks:
                    async for chunk in chunks:
                        has_answered = True
                        yield chunk
            except ModelFailure as failure:
                taught = None if has_answered else self._taught(dialect, request, failure)
                if taught is None:
                    raise
                dialect = taught
            else:
                self._dialect = dialect
                return

    async def count_tokens(self, request: ModelRequest) -> int:
        """By the service, or an estimate where it does not tell."""
        body = [
            counting_opening(self._asked.model, request, self._dialect),
            *self._messages(request, self._dialect),
        ]
        try:
            counted = await self._exchange.ask(f"{self._address}/count_tokens", body)
        except ModelFailure:
            return estimate_tokens(request)
        return count_of(object_of(counted).get("input_tokens")) or estimate_tokens(request)

    async def close(self) -> None:
        await self._exchange.close()

    def _opening(self, request: ModelRequest, dialect: Dialect) -> bytes:
        """From turn to turn it is the same; only the last is kept."""
        if not request.tools:
            return opening(self._asked.model, request, dialect)
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

    def _messages(self, request: ModelRequest, dialect: Dialect) -> list[bytes]:
        """All messages and the end of the request."""
        # Thoughts are bound to the tools that were there: on the side they would be refused.
        gives_thoughts_back = bool(request.tools) and request.answer_schema is None
        encoded = self._encoder(gives_thoughts_back=gives_thoughts_back, media=dialect.media)
        lean = self._encoder(gives_thoughts_back=False, media=False)
        pieces = fitted(request.messages, encoded, lean, most=_MOST_REQUEST_BYTES)
        if dialect.caching:
            asking = [place for place, message in enumerate(request.messages) if message.role is Role.USER]
            for place in asking[-_MARKED_MESSAGES:]:
                pieces[place] = marked_message(pieces[place])
        body: list[bytes] = []
        for piece in pieces:
            body += (piece, b",")
        body[-1] = CLOSING
        return body

    def _encoder(self, *, gives_thoughts_back: bool, media: bool) -> Encoded:
        key = (gives_thoughts_back, media)
        if key not in self._encoders:
            thinker = self._asked.model if gives_thoughts_back else None
            self._encoders[key] = Encoded(partial(encode_message, thinker=thinker, media=media))
        return self._encoders[key]

    def _taught(self, dialect: Dialect, request: ModelRequest, failure: ModelFailure) -> Dialect | None:
        """What to try after a refusal."""
        if failure.kind is not FailureKind.BAD_REQUEST or failure.status != 400:
            return None
        if is_about_old_thoughts(failure.message) and self._forget_thoughts(request):
            return dialect
        return learned(dialect, request, failure.message)

    def _forget_thoughts(self, request: ModelRequest) -> bool:
        """Send what was thought so far no more; whether there is anything that was not forgotten yet."""
        thoughtful = [
            message
            for message in request.messages
            if message not in self._forgotten and any(isinstance(part, Opaque) for part in message.parts)
        ]
        for message in thoughtful:
            self._forgotten.add(message)
            for media in (True, False):
                plain = encode_message(message, thinker=None, media=media)
                self._encoder(gives_thoughts_back=True, media=media).put(message, plain)
        return bool(thoughtful)
