"""Compression of a long conversation: its older part becomes a summary, the user's requests stay verbatim."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from tejat.core.agent.compaction import CompressionPreview
from tejat.core.agent.events import Compressed, CompressionStatus
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.history import Message, Role, history_problem, model_message, user_message
from tejat.core.messages.tokens import CHARACTERS_PER_TOKEN, estimate_message_tokens, estimate_text_tokens
from tejat.core.messages.types import FunctionResponse, MessagePart, Text
from tejat.core.model import FailureKind, FinishReason, ModelFailure, ModelRequest, ModelResponse
from tejat.core.tools.function_response import SUCCESS_MESSAGE
from tejat.engine.loop.compressor import CompressionScope
from tejat.engine.loop.transcript import render_transcript, truncate_middle, truncate_tokens
from tejat.engine.prompt.expanded_prompt import CONTENT_END, CONTENT_START
from tejat.engine.prompt.templates import load_template

KEEP_FRACTION = 0.3
"""The share of the conversation that is kept as it is, counted from the end."""
ACKNOWLEDGEMENT = "Got it. Thanks for the additional context!"

_SUMMARY_PREFIX = "The conversation so far was summarised to make room. This is what is known of it:\n\n"
_REQUEST_PREFIX = "An earlier request of the user, word for word:\n"
_CARRIED_PREFIX = "Still in force, as this session keeps it:\n"
_RECALL_NOTE = (
    "\n\nMessages 1 to {last} of the conversation are no longer shown. Call `recall` if you need their exact words."
)
_DROPPED_SUFFIX = " older requests were left out to save room.]"
_ATTACHMENT_NOTE = "\n[The content of the files named above was attached here.]"
# A summary must save at least this much.
_MIN_SAVED_FRACTION = 0.2
_MIN_SAVED_TOKENS = 200
_MAX_REQUEST_CHARS = 40_000
_MIN_REQUEST_CHARS = 4_000
_MAX_REQUEST_CHARS_PER_TOKEN = 0.6
"""The user's requests take at most about a seventh of the room."""
_MIN_RECORD_TOKENS = 200
_FRAME_TOKENS = 40
_MIN_SUMMARY_TOKENS = 256
_MAX_SUMMARY_TOKENS = 8_192
_TYPICAL_RATIO = 10
"""A summary is usually a tenth of what it replaces."""
_SHORTENED_LENGTHS = (2_000, 300)
"""Lengths that older requests are cut to if all together are too long: first long ones, then all."""


class CompressionAttempt(NamedTuple):
    """The new messages and the outcome. `is_refused`: the service refused the request for the summary as too long."""

    messages: Sequence[Message]
    outcome: Compressed
    is_refused: bool = False


async def attempt_compression(
    request_summary: Callable[[ModelRequest], Awaitable[ModelResponse]],
    messages: Sequence[Message],
    scope: CompressionScope,
) -> CompressionAttempt:
    """Request a summary once, and put the new messages together. Without one the messages stay the same."""
    tokens_before = scope.tokens_before

    def unchanged(status: CompressionStatus, detail: str, *, is_refused: bool = False) -> CompressionAttempt:
        return CompressionAttempt(messages, Compressed(tokens_before, tokens_before, status, detail), is_refused)

    plan = _make_plan(messages, scope)
    if plan.detail:
        return unchanged(CompressionStatus.NOT_NEEDED, plan.detail)
    try:
        answer = await request_summary(_summary_request(_without_carried(plan.older), scope.room))
    except ModelFailure as failure:
        is_refused = failure.kind is FailureKind.CONTEXT_FULL
        return unchanged(CompressionStatus.FAILED, failure.message, is_refused=is_refused)
    snapshot = _parse_snapshot(answer, scope.room)
    if not snapshot:
        return unchanged(CompressionStatus.FAILED, lazy("The model returned no usable summary."))
    compressed = _assemble(plan.opening, _summary_message(snapshot, plan, scope), plan.latest)
    problem = history_problem(compressed)
    if problem:
        return unchanged(CompressionStatus.FAILED, problem)
    saved = estimate_message_tokens(messages) - estimate_message_tokens(compressed)
    if saved <= 0:
        return unchanged(CompressionStatus.INFLATED, lazy("The summary would be longer than the original."))
    after = max(tokens_before - saved, estimate_message_tokens(compressed))
    return CompressionAttempt(compressed, Compressed(tokens_before, after, CompressionStatus.COMPRESSED))


def preview_compression(messages: Sequence[Message], scope: CompressionScope) -> CompressionPreview:
    """Return what a compression would do with these messages, without a request."""
    plan = _make_plan(messages, scope)
    if plan.detail:
        return CompressionPreview(scope.tokens_before, scope.tokens_before, kept=len(messages), detail=plan.detail)
    older = estimate_message_tokens(plan.older)
    summary = min(_max_summary_tokens(scope.room), max(_MIN_SUMMARY_TOKENS, older // _TYPICAL_RATIO))
    after = scope.tokens_before - older + summary + plan.requests_tokens + plan.carried_tokens
    return CompressionPreview(
        scope.tokens_before,
        max(after, 0),
        summarized=len(plan.older),
        kept=len(plan.latest),
        requests=tuple(plan.requests),
        carried=tuple((name, estimate_text_tokens(text)) for name, text in scope.carried),
    )


class _Plan(Frozen):
    """The parts of a conversation: what becomes a summary, and what is kept. With a `detail` nothing is summarized."""

    opening: Sequence[Message]
    older: Sequence[Message]
    latest: Sequence[Message]
    requests: Sequence[str]
    requests_tokens: int
    carried_tokens: int
    detail: str = ""


def _make_plan(messages: Sequence[Message], scope: CompressionScope) -> _Plan:
    first, room = scope.preamble_length, scope.room
    split = _split_point(messages, first, room)
    older, latest = messages[first:split], messages[split:]
    max_chars = min(max(scope.tokens_before, _MIN_REQUEST_CHARS), int(room * _MAX_REQUEST_CHARS_PER_TOKEN))
    requests = _limit_requests(_user_requests(older), _user_requests(latest), max_chars=max_chars)
    requests_tokens = sum(map(_request_size, requests)) // CHARACTERS_PER_TOKEN
    carried_tokens = sum(estimate_text_tokens(text) for _, text in scope.carried)
    can_go = estimate_message_tokens(older) - requests_tokens - carried_tokens
    is_worth_it = can_go >= max(_MIN_SAVED_TOKENS, _MIN_SAVED_FRACTION * estimate_message_tokens(messages[first:]))
    detail = "" if is_worth_it else lazy("Not enough to summarize yet.")
    return _Plan(messages[:first], older, latest, requests, requests_tokens, carried_tokens, detail)


def _split_point(messages: Sequence[Message], first: int, max_tokens: int) -> int:
    """Return the index of the first message to keep.

    This is before a request of the user if that keeps a fair part of what may be kept. In a long run after one request
    it is before an answer of the model, so that its calls and their results stay together.
    """
    sizes = [estimate_message_tokens([message]) for message in messages]
    room = KEEP_FRACTION * min(sum(sizes[first:]), max_tokens)
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


def _summary_request(older: Sequence[Message], room: int) -> ModelRequest:
    system = load_template("compress")
    max_tokens = max(_MIN_RECORD_TOKENS, room - estimate_text_tokens(system) - _FRAME_TOKENS)
    record = f"<record>\n{render_transcript(older, max_tokens)}\n</record>\n\nWrite the <state_snapshot> now."
    limit = _max_summary_tokens(room)
    # In a large window there is room for thoughts besides.
    limit = 2 * limit if limit == _MAX_SUMMARY_TOKENS else limit
    return ModelRequest([user_message(record)], system=system, max_output_tokens=limit, purpose="compression")


def _max_summary_tokens(room: int) -> int:
    return min(_MAX_SUMMARY_TOKENS, max(_MIN_SUMMARY_TOKENS, room // 5))


def _parse_snapshot(answer: ModelResponse, room: int) -> str:
    """Return the content of the requested block, or the whole text; empty if the answer is of no use.

    An answer that reached its limit is cut off, but still worth more than nothing.
    """
    if answer.reason not in {FinishReason.STOP, FinishReason.MAX_TOKENS}:
        return ""
    _, begins, inner = answer.text.rpartition("<state_snapshot>")
    snapshot = (inner.partition("</state_snapshot>")[0] if begins else answer.text).strip()
    return truncate_tokens(snapshot, _max_summary_tokens(room))


def _summary_message(snapshot: str, plan: _Plan, scope: CompressionScope) -> Message:
    summary = f"{_SUMMARY_PREFIX}<state_snapshot>\n{snapshot}\n</state_snapshot>"
    if scope.number_of is not None:
        last = scope.number_of(len(plan.opening) + len(plan.older) - 1)
        summary += _RECALL_NOTE.format(last=last)
    return user_message(
        summary,
        *(_REQUEST_PREFIX + request for request in plan.requests),
        *(_CARRIED_PREFIX + text for _, text in scope.carried),
    )


def _without_carried(messages: Sequence[Message]) -> list[Message]:
    """The messages without what an older summary carried: it is carried again as it is now."""
    stripped: list[Message] = []
    for message in messages:
        parts = tuple(part for part in message.parts if not _is_carried(part))
        stripped.append(message if len(parts) == len(message.parts) else Message(message.role, parts))
    return stripped


def _is_carried(part: MessagePart) -> bool:
    return isinstance(part, Text) and part.text.startswith(_CARRIED_PREFIX)


def _user_requests(messages: Sequence[Message]) -> list[str]:
    """Return the user's requests, including those in an older summary."""
    return [request for message in messages if message.role is Role.USER for request in _requests_in_message(message)]


def _requests_in_message(message: Message) -> Iterator[str]:
    texts = _texts_after_responses(message)
    if texts and texts[0].startswith(_SUMMARY_PREFIX):
        texts = [text for text in texts[1:] if not text.startswith(_CARRIED_PREFIX)]
    elif CONTENT_START in texts:
        attached = texts.index(CONTENT_START)
        texts = [text + _ATTACHMENT_NOTE for text in texts[:attached]]
    requests = (text.removeprefix(_REQUEST_PREFIX).strip() for text in texts)
    yield from (request for request in requests if request and not request.endswith(_DROPPED_SUFFIX))


def _texts_after_responses(message: Message) -> list[str]:
    """Return the texts after the responses of a message. The last text of a result may be among them."""
    last = max((index for index, part in enumerate(message.parts) if isinstance(part, FunctionResponse)), default=-1)
    texts = [part.text for part in message.parts[last + 1 :] if isinstance(part, Text)]
    if not message.responses or message.responses[-1].response.get("output") != SUCCESS_MESSAGE:
        return texts
    # The content of such a result follows it, and the text of the user follows that.
    begins = texts.index(CONTENT_START) - 1 if CONTENT_START in texts else len(texts) - 1
    return [] if texts[-1:] == [CONTENT_END] and CONTENT_START not in texts else texts[max(begins, 0) :]


def _limit_requests(requests: list[str], later: list[str], *, max_chars: int) -> list[str]:
    """Return the requests without duplicates. If they are too long in total, the oldest are shortened, then dropped."""
    kept = list(dict.fromkeys(reversed(requests)))[::-1]
    excess = sum(map(_request_size, kept)) - min(_MAX_REQUEST_CHARS, max_chars)
    for length in _SHORTENED_LENGTHS:
        for index, request in enumerate(kept if later else kept[:-1]):
            if excess <= 0:
                return kept
            kept[index] = truncate_middle(request, length)
            excess -= _request_size(request) - _request_size(kept[index])
    sizes = accumulate(map(_request_size, kept))
    dropped = next((number for number, size in enumerate(sizes, 1) if size >= excess), len(kept)) if excess > 0 else 0
    dropped = min(dropped, len(kept) if later else len(kept) - 1)
    return [f"[{dropped}{_DROPPED_SUFFIX}", *kept[dropped:]] if dropped > 0 else kept


def _request_size(request: str) -> int:
    """Return the size of a request as the model gets it, in characters of ASCII with as many tokens."""
    return CHARACTERS_PER_TOKEN * estimate_text_tokens(_REQUEST_PREFIX + request)


def _assemble(opening: Sequence[Message], summary: Message, latest: Sequence[Message]) -> list[Message]:
    """Join the parts so that roles alternate: an acknowledgement separates the summary from the next request."""
    if opening and opening[-1].role is Role.USER:
        opening, summary = opening[:-1], user_message(*opening[-1].parts, *summary.parts)
    acknowledgement = [model_message(ACKNOWLEDGEMENT)] if latest[0].role is Role.USER else []
    return [*opening, summary, *acknowledgement, *latest]
