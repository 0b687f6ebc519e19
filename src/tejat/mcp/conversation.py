"""Requests and answers over one transport: who waits for which answer, and for how long."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from itertools import count
from math import isfinite
from typing import assert_never

from tejat.core.types import JsonObject, JsonValue
from tejat.core.value import value
from tejat.core.visible import visible
from tejat.core.words import phrase
from tejat.mcp.failures import McpFailure, McpProblem, Unsent
from tejat.mcp.protocol import (
    INTERNAL_ERROR,
    Message,
    Notification,
    Refusal,
    Request,
    RequestId,
    Result,
)
from tejat.mcp.questions import Questions
from tejat.mcp.transport import Transport
from tejat.mcp.values import Progress

DISCOVER = "server/discover"
INITIALIZE = "initialize"

_NEVER_CANCELLED = frozenset({DISCOVER, INITIALIZE})
"""The protocol forbids to take these back."""
_MOST_QUESTIONS = 16
_MOST_ERRANDS = 64
_ERRAND_SECONDS = 2.0
"""How long we try to tell a server something that it need not know."""
_PARTING_SECONDS = 0.5
_MOST_LINES = 20
_LONGEST_LINE = 500
_LONGEST_MESSAGE = 2_000


@value
class Patience:
    """How long an answer is waited for: so many seconds without a word about it, and so many in all."""

    idle: float
    whole: float


class Conversation:
    """One connection, from `open` to `close`. Nothing is sent again here, and nothing is opened twice.

    `on_notice` is called with the method of every notification that does not belong to a request, `on_end` once when
    the connection is over and nobody closed it.
    """

    def __init__(
        self,
        transport: Transport,
        questions: Questions,
        *,
        on_notice: Callable[[str], None],
        on_end: Callable[[McpFailure], None],
    ) -> None:
        self._transport = transport
        self._questions = questions
        self._on_notice = on_notice
        self._on_end = on_end
        self._ids = count(1)
        self._waiting: dict[RequestId, _Waiting] = {}
        self._asked: dict[RequestId, asyncio.Task[None]] = {}
        self._errands: set[asyncio.Task[None]] = set()
        self._end: McpFailure | None = None
        self._thinking = 0
        self._envelope: JsonObject = {}
        self._logged: deque[str] = deque(maxlen=_MOST_LINES)

    @property
    def is_over(self) -> bool:
        return self._end is not None

    @property
    def is_waiting(self) -> bool:
        """Whether somebody waits for an answer."""
        return bool(self._waiting)

    @property
    def last_words(self) -> tuple[str, ...]:
        """The last lines that the server printed or logged, fit to be shown."""
        return (*self._transport.last_words, *self._logged)[-_MOST_LINES:]

    async def open(self) -> None:
        """Raises McpFailure."""
        await self._transport.open(self._receive, self._lose)

    def agree(self, revision: str, envelope: JsonObject) -> None:
        """From now on this revision is spoken, and every request says what is in the envelope about whoever asks."""
        self._transport.agree(revision)
        self._envelope = envelope

    async def request(
        self,
        method: str,
        params: JsonObject | None = None,
        *,
        patience: Patience | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> JsonObject:
        """The result of a request. Raises McpFailure, and Unsent if the server cannot have got it.

        When time is up, or the task is cancelled, the server is told. With `on_progress` it is asked to tell how far it
        is, which also gives it more time. Without `patience` the caller sees to the time.
        """
        if self._end is not None:
            raise _unsent(self._end)
        request_id = next(self._ids)
        waiting = _Waiting(patience, on_progress)
        try:
            async with asyncio.timeout(None) as deadline:
                waiting.begin(deadline, is_held=self._thinking > 0)
                self._waiting[request_id] = waiting
                wanted = self._params(params, request_id if on_progress is not None else None)
                try:
                    await self._transport.send(Request(request_id, method, wanted))
                except McpFailure as failure:
                    waiting.settle(_unsent(failure))
                outcome = await waiting.outcome
        except TimeoutError:
            message = phrase(
                "The server did not answer within {seconds:.3g} seconds ({method}).",
                seconds=waiting.limit(),
                method=method,
            )
            raise McpFailure(message, McpProblem.TIMED_OUT) from None
        finally:
            self._waiting.pop(request_id, None)
            if not waiting.is_settled:
                self._abandon(request_id, method)
        if isinstance(outcome, McpFailure):
            raise outcome
        return outcome

    async def notify(self, method: str, params: JsonObject | None = None) -> None:
        """Raises McpFailure."""
        if self._end is not None:
            raise _unsent(self._end)
        await self._transport.send(Notification(method, params))

    async def close(self) -> None:
        """Let go of everything. Whoever still waits is told that the connection was closed."""
        self._finish(McpFailure(phrase("The connection to the server was closed."), McpProblem.CLOSED))
        for task in self._asked.values():
            task.cancel()
        try:
            if self._errands:
                # Above all word of what nobody waits for any more: a remote server would go on with it.
                await asyncio.wait(self._errands, timeout=_PARTING_SECONDS)
        finally:
            for task in self._errands:
                task.cancel()
            await self._transport.close()

    def _params(self, params: JsonObject | None, token: RequestId | None) -> JsonObject | None:
        about: dict[str, JsonValue] = {**self._envelope}
        if token is not None:
            about["progressToken"] = token
        return {**(params or {}), "_meta": about} if about else params

    def _abandon(self, request_id: RequestId, method: str) -> None:
        self._transport.forget(request_id)
        if method not in _NEVER_CANCELLED and self._end is None:
            told = {"requestId": request_id, "reason": "nobody waits for it any more"}
            self._run(self._send_if_possible(Notification("notifications/cancelled", told)))

    def _receive(self, message: Message) -> None:
        if self._end is not None:
            return
        match message:
            case Result(request_id, result):
                self._settle(request_id, result)
            case Refusal(request_id, code, text, data):
                if request_id is None:
                    self._log(phrase("It could not read a message: {text}", text=text))
                    return
                told = phrase(
                    "The server refused: {text} (code {code})", text=visible(_cut(text, _LONGEST_MESSAGE)), code=code
                )
                self._settle(request_id, McpFailure(told, McpProblem.REFUSED, code=code, data=data))
            case Notification():
                self._hear(message)
            case Request():
                self._be_asked(message)
            case _:
                assert_never(message)

    def _lose(self, failure: McpFailure, request_id: RequestId | None) -> None:
        if request_id is not None:
            self._settle(request_id, failure)
        elif self._end is None:
            self._finish(failure)
            self._on_end(failure)

    def _finish(self, failure: McpFailure) -> None:
        if self._end is None:
            self._end = failure
        for waiting in self._waiting.values():
            waiting.settle(self._end)

    def _settle(self, request_id: RequestId, outcome: JsonObject | McpFailure) -> None:
        """Answers that nobody waits for, and second ones, are dropped."""
        if waiting := self._waiting.get(request_id):
            waiting.settle(outcome)

    def _hear(self, notification: Notification) -> None:
        params = notification.params or {}
        match notification.method:
            case "notifications/progress":
                token = params.get("progressToken")
                waiting = self._waiting.get(token) if isinstance(token, int | str) else None
                if waiting is not None:
                    waiting.extend(is_held=self._thinking > 0)
                    waiting.tell(_progress(params))
            case "notifications/cancelled":
                request_id = params.get("requestId")
                asked = self._asked.get(request_id) if isinstance(request_id, int | str) else None
                if asked is not None:
                    asked.cancel()
            case "notifications/message":
                self._log(_logged(params))
            case method:
                self._on_notice(method)

    def _log(self, text: str) -> None:
        line = " ".join(_cut(text, _LONGEST_LINE).split())
        if line:
            self._logged.append(visible(line))

    def _be_asked(self, request: Request) -> None:
        if request.id in self._asked:
            return
        if len(self._asked) >= _MOST_QUESTIONS:
            refusal = Refusal(request.id, INTERNAL_ERROR, "There are too many questions open.")
            self._run(self._send_if_possible(refusal))
        elif (task := self._run(self._answer(request))) is not None:
            self._asked[request.id] = task
            task.add_done_callback(lambda _: self._asked.pop(request.id, None))

    async def _answer(self, request: Request) -> None:
        # Which call it is about, nobody knows: while somebody has to think, none of them is blamed for being slow.
        thinking = int(self._questions.takes_long(request.method))
        self._think(thinking)
        try:
            answer = Result(request.id, await self._questions.answer(request.method, request.params or {}))
        except McpFailure as failure:
            code = INTERNAL_ERROR if failure.code is None else failure.code
            answer = Refusal(request.id, code, failure.message)
        finally:
            self._think(-thinking)
        await self._send_if_possible(answer)

    def _think(self, more: int) -> None:
        self._thinking += more
        if more:
            for waiting in self._waiting.values():
                waiting.extend(is_held=self._thinking > 0)

    async def _send_if_possible(self, message: Message) -> None:
        with suppress(McpFailure, TimeoutError):
            async with asyncio.timeout(_ERRAND_SECONDS):
                await self._transport.send(message)

    def _run(self, errand: Coroutine[None, None, None]) -> asyncio.Task[None] | None:
        """Do this beside everything else, unless so much is open already that the server does not listen at all."""
        if len(self._errands) >= _MOST_ERRANDS:
            errand.close()
            return None
        task = asyncio.get_running_loop().create_task(errand)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)
        return task


class _Waiting:
    """Somebody who waits for an answer. `outcome` holds failures as values: nobody might be left to look at them."""

    def __init__(self, patience: Patience | None, on_progress: Callable[[Progress], None] | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._patience = patience
        self._on_progress = on_progress
        self._began = self._loop.time()
        self._deadline: asyncio.Timeout | None = None
        self.outcome: asyncio.Future[JsonObject | McpFailure] = self._loop.create_future()

    @property
    def is_settled(self) -> bool:
        return self.outcome.done() and not self.outcome.cancelled()

    def begin(self, deadline: asyncio.Timeout, *, is_held: bool) -> None:
        self._deadline = deadline
        self.extend(is_held=is_held)

    def settle(self, outcome: JsonObject | McpFailure) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)

    def tell(self, progress: Progress | None) -> None:
        if progress is None or self._on_progress is None:
            return
        try:
            self._on_progress(progress)
        except Exception as error:  # noqa: BLE001 -- whoever listens cannot make the call fail
            self._loop.call_exception_handler({"message": "progress could not be told", "exception": error})

    def extend(self, *, is_held: bool) -> None:
        """Give it the idle time anew; as long as it is held, all the time that there is."""
        if self._patience is None or self._deadline is None or self._deadline.expired() or self.outcome.done():
            return
        last = self._began + self._patience.whole
        self._deadline.reschedule(last if is_held else min(last, self._loop.time() + self._patience.idle))

    def limit(self) -> float:
        """The limit that was reached, in seconds."""
        if self._patience is None:
            return self._loop.time() - self._began
        is_last = self._loop.time() - self._began >= self._patience.whole
        return self._patience.whole if is_last else self._patience.idle


def _unsent(failure: McpFailure) -> Unsent:
    return Unsent(failure.message, failure.problem, code=failure.code, data=failure.data, challenge=failure.challenge)


def _progress(params: JsonObject) -> Progress | None:
    done, total, message = _number(params.get("progress")), _number(params.get("total")), params.get("message")
    if done is None:
        return None
    return Progress(done, total, visible(_cut(message, _LONGEST_LINE)) if isinstance(message, str) else "")


def _number(given: JsonValue) -> float | None:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    try:
        number = float(given)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def _logged(params: JsonObject) -> str:
    level, told = params.get("level"), params.get("data")
    if isinstance(told, Mapping):
        told = told.get("message") or told.get("msg")
    text = told if isinstance(told, str) else ""
    return f"[{level}] {text}" if isinstance(level, str) and text else text


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
