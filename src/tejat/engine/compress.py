"""Makes room in a long conversation: a summary takes the place of its older part, the person's own words stay."""

import math
from collections.abc import Awaitable, Callable, Iterator, Sequence

from tejat.core.agent_events import Compressed, CompressionStatus
from tejat.core.history import Message, Role, model_message, problem_with, user_message
from tejat.core.model import Answer, FinishReason, ModelFailure, ModelRequest
from tejat.core.tokens import estimate_text
from tejat.core.types import FunctionResponse, Text
from tejat.core.value import value
from tejat.core.words import phrase
from tejat.engine.at_paths import CONTENT_BEGINS, CONTENT_ENDS
from tejat.engine.packing import SUCCEEDED
from tejat.engine.tokens import estimate_tokens
from tejat.engine.transcript import shortened, transcript
from tejat.engine.words import words_about

KEPT_SHARE = 0.3
"""The latest messages that are kept as they are, as a share of all."""
ACKNOWLEDGED = "Got it. Thanks for the additional context!"

_BEGINNING = "The conversation so far was summarised to make room. This is what is known of it:\n\n"
_REQUEST = "An earlier request of the user, word for word:\n"
_WITH_FILES = "\n[The content of the files named above was attached here.]"
# Less than this is not worth a summary.
_LEAST_SHARE = 0.2
_LEAST_TOKENS = 200
_MOST_FOR_REQUESTS = 40_000
_LEAST_FOR_REQUESTS = 4_000
_SHORTER = (2_000, 300)
"""To so many characters older requests are cut where all together are too long: first the long ones, then all."""


class Compressor:
    """Knows when a conversation should be summarised, and does it."""

    def __init__(self, *, threshold: float = 0.5) -> None:
        """`threshold` is the share of the model's context window that may be full."""
        self._threshold = threshold
        self._not_before = 0.0

    def is_due(self, tokens: int, window: int) -> bool:
        """Whether a request of so many tokens is too near to the window of the model.

        After a summary, and after an attempt that failed, the conversation must have grown before it is tried again;
        after one that would have made it longer, it is not tried again at all.
        """
        return tokens >= max(self._threshold * window, self._not_before)

    async def compress(
        self,
        ask: Callable[[ModelRequest], Awaitable[Answer]],
        messages: Sequence[Message],
        *,
        tokens_before: int,
        keep_first: int = 0,
    ) -> tuple[Sequence[Message], Compressed]:
        """The messages to go on with, and what came of it; the very same messages where nothing came of it.

        The first `keep_first` stay as they are, and so do the latest. Raises nothing that `ask` fails of.
        """
        made = await self._attempt(ask, messages, tokens_before, keep_first)
        self._not_before = _growth_needed(made.outcome)
        return made.messages, made.outcome

    async def _attempt(
        self,
        ask: Callable[[ModelRequest], Awaitable[Answer]],
        messages: Sequence[Message],
        tokens_before: int,
        keep_first: int,
    ) -> "_Made":
        def unchanged(status: CompressionStatus, detail: str) -> _Made:
            return _Made(messages, Compressed(tokens_before, tokens_before, status, detail))

        split = _split(messages, keep_first)
        older, latest = messages[keep_first:split], messages[split:]
        requests = _bounded(_requests_in(older), _requests_in(latest), most=max(tokens_before, _LEAST_FOR_REQUESTS))
        can_go = estimate_tokens(older) - sum(map(estimate_text, requests))
        if can_go < max(_LEAST_TOKENS, _LEAST_SHARE * estimate_tokens(messages[keep_first:])):
            return unchanged(CompressionStatus.NOT_NEEDED, phrase("There is too little yet that could be summarised."))
        try:
            snapshot = _snapshot(await ask(_question(older)))
        except ModelFailure as failure:
            return unchanged(CompressionStatus.FAILED, failure.message)
        if not snapshot:
            return unchanged(CompressionStatus.FAILED, phrase("The model gave no usable summary."))
        made = _put_together(messages[:keep_first], _summary(snapshot, requests), latest)
        problem = problem_with(made)
        if problem:
            return unchanged(CompressionStatus.FAILED, problem)
        saved = estimate_tokens(messages) - estimate_tokens(made)
        if saved <= 0:
            return unchanged(CompressionStatus.INFLATED, phrase("The summary would be longer than what it stands for."))
        after = max(tokens_before - saved, estimate_tokens(made))
        return _Made(made, Compressed(tokens_before, after, CompressionStatus.COMPRESSED))


@value
class _Made:
    messages: Sequence[Message]
    outcome: Compressed


def _growth_needed(outcome: Compressed) -> float:
    match outcome.status:
        case CompressionStatus.COMPRESSED:
            return outcome.after * 1.25
        case CompressionStatus.INFLATED:
            return math.inf
        case CompressionStatus.FAILED | CompressionStatus.NOT_NEEDED:
            return outcome.before * 1.1


def _split(messages: Sequence[Message], first: int) -> int:
    """Where the latest messages begin, those that are kept.

    Before a request of the person, if that keeps a fair part of what may be kept. In a long run after one request there
    is no such place: then before an answer of the model, whose calls and their results stay together.
    """
    sizes = [estimate_tokens([message]) for message in messages]
    room = KEPT_SHARE * sum(sizes[first:])
    before_request: int | None = None
    before_answer: int | None = None
    kept, fair = 0, False
    for index in range(len(messages) - 1, first, -1):
        kept += sizes[index]
        if messages[index].responses:
            continue
        if kept > room and (before_request or before_answer):
            break
        if messages[index].role is Role.MODEL:
            before_answer = index
        else:
            before_request, fair = index, kept >= room / 3
    if before_request and (fair or not before_answer):
        return before_request
    return before_answer or first


def _question(older: Sequence[Message]) -> ModelRequest:
    record = f"<record>\n{transcript(older)}\n</record>\n\nWrite the <state_snapshot> now."
    return ModelRequest([user_message(record)], system=words_about("compress"), purpose="compression")


def _snapshot(answer: Answer) -> str:
    """What stands in the block that was asked for, or all of it; empty if the answer is not a whole one."""
    if answer.reason is not FinishReason.STOP:
        return ""
    _, begins, inner = answer.text.rpartition("<state_snapshot>")
    return (inner.partition("</state_snapshot>")[0] if begins else answer.text).strip()


def _summary(snapshot: str, requests: Sequence[str]) -> Message:
    return user_message(
        f"{_BEGINNING}<state_snapshot>\n{snapshot}\n</state_snapshot>", *(_REQUEST + request for request in requests)
    )


def _requests_in(messages: Sequence[Message]) -> list[str]:
    """What the person asked for, also where it stands in an older summary."""
    return [request for message in messages if message.role is Role.USER for request in _requests_of(message)]


def _requests_of(message: Message) -> Iterator[str]:
    texts = _after_responses(message)
    if texts and texts[0].startswith(_BEGINNING):
        texts = texts[1:]
    elif CONTENT_BEGINS in texts:
        attached = texts.index(CONTENT_BEGINS)
        texts = [text + _WITH_FILES for text in texts[:attached]]
    yield from (text.removeprefix(_REQUEST).strip() for text in texts if text.strip())


def _after_responses(message: Message) -> list[str]:
    """The texts of a message that are not part of a result, though a last one that may be either is among them."""
    last = max((index for index, part in enumerate(message.parts) if isinstance(part, FunctionResponse)), default=-1)
    texts = [part.text for part in message.parts[last + 1 :] if isinstance(part, Text)]
    if not message.responses or message.responses[-1].response.get("output") != SUCCEEDED:
        return texts
    # The content of such a result stands behind it; what the person said is behind that.
    begins = texts.index(CONTENT_BEGINS) - 1 if CONTENT_BEGINS in texts else len(texts) - 1
    return [] if texts[-1:] == [CONTENT_ENDS] and CONTENT_BEGINS not in texts else texts[max(begins, 0) :]


def _bounded(requests: list[str], later: list[str], *, most: int) -> list[str]:
    """The requests, each once; where they are too long in all, the oldest are cut first, and never the very last."""
    kept = list(dict.fromkeys(reversed(requests)))[::-1]
    excess = sum(map(len, kept)) - min(_MOST_FOR_REQUESTS, most)
    for length in _SHORTER:
        for index, request in enumerate(kept if later else kept[:-1]):
            if excess <= 0:
                return kept
            kept[index] = shortened(request, length)
            excess -= len(request) - len(kept[index])
    return kept


def _put_together(opening: Sequence[Message], summary: Message, latest: Sequence[Message]) -> list[Message]:
    """Roles alternate: the summary joins an opening that is the user's, and is acknowledged before another request."""
    if opening and opening[-1].role is Role.USER:
        opening, summary = opening[:-1], user_message(*opening[-1].parts, *summary.parts)
    acknowledgement = [model_message(ACKNOWLEDGED)] if latest[0].role is Role.USER else []
    return [*opening, summary, *acknowledgement, *latest]
