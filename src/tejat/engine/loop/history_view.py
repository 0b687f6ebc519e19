"""The history as it is sent: whole, or shortened to fit into a small context window."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

from tejat.core.frozen import Frozen, replace
from tejat.core.messages.history import Message, Role, user_message
from tejat.core.messages.tokens import (
    CHARACTERS_PER_TOKEN,
    estimate_message_tokens,
    estimate_part_tokens,
    estimate_text_tokens,
)
from tejat.core.messages.types import (
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JsonValue,
    MessagePart,
    Text,
)
from tejat.engine.prompt.expanded_prompt import CONTENT_START
from tejat.tools.registry import ACTIVATE_SKILL

_TARGET_SHARE = 0.75
"""How full the room is after shortening: otherwise every request would have another beginning."""
_PREAMBLE_SHARE = 0.1
_MIN_RESULT_TOKENS = 60
_MIN_LATEST_TOKENS = 120
_MIN_LATEST_SHARE = 0.3
"""Rather than shorten the latest message to less of the room, older ones are left out entirely."""
_MAX_ARGUMENT_CHARS = 300
_MAX_REQUEST_CHARS = 2_000

_LEFT_OUT = "[Left out to save room. Call {name} again if you need it.]"
_ATTACHMENT_LEFT_OUT = "[Left out to save room. Read the file if you need it.]"
_DROPPED_NOTE = "[Earlier messages were left out to save room.]"
_REQUEST_NOTE = "\nThe request of the user was:\n"


class FittedHistory(Frozen):
    """Messages that fit, or come as close as possible. `dropped` is how many are missing entirely."""

    messages: Sequence[Message]
    tokens: int
    is_shortened: bool = False
    dropped: int = 0


class HistoryView:
    """Shortens a history for one model; the history itself stays whole.

    What goes first: the folder listing, old tool results and attachments, then the long part of the latest ones, then
    whole messages from the beginning. What was left out stays so, and a little more is left out than necessary, because
    caches of services and local servers depend on the beginning of a request.
    """

    def __init__(self) -> None:
        self._shortened: WeakKeyDictionary[Message, Message] = WeakKeyDictionary()
        self._first_kept: Message | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out yet."""
        return not self._shortened

    def fit(self, messages: Sequence[Message], *, room: int, preamble_length: int = 0) -> FittedHistory:
        """Return the messages within `room` estimated tokens if that is possible."""
        tokens = sum(self._count(self._seen(message)) for message in messages)
        if tokens <= room and self.is_whole:
            return FittedHistory(messages, tokens)
        if tokens > room:
            self._shorten(messages, tokens - int(room * _TARGET_SHARE), room, preamble_length)
        view = [self._seen(message) for message in messages]
        total = sum(map(self._count, view))
        is_shortened = any(seen is not message for seen, message in zip(view, messages, strict=True))
        fitted = FittedHistory(view if is_shortened else messages, total, is_shortened)
        first = next((index for index, message in enumerate(messages) if message is self._first_kept), None)
        if first is not None:
            shorter = self._from(view, first, preamble_length)
            if shorter.tokens <= room:
                return shorter
        return fitted if total <= room else self._drop_oldest(messages, fitted, room, preamble_length)

    def count(self, messages: Sequence[Message]) -> int:
        """Return the estimated tokens of messages with nothing left out."""
        return sum(map(self._count, messages))

    def _seen(self, message: Message) -> Message:
        return self._shortened.get(message, message)

    def _count(self, message: Message) -> int:
        return estimate_message_tokens((message,))

    def _shorten(self, messages: Sequence[Message], excess: int, room: int, preamble_length: int) -> None:
        preamble = max(_MIN_LATEST_TOKENS, int(room * _PREAMBLE_SHARE))
        for message in messages[:preamble_length]:
            excess -= self._replace_parts(message, [_cut_text(part, preamble) for part in self._seen(message).parts])
        for message in messages[preamble_length:-1]:
            if excess <= 0:
                return
            excess -= self._replace_parts(message, _without_long_parts(self._seen(message)))
        if excess > 0 and len(messages) > preamble_length:
            calls = {call.id: call for call in messages[-2].calls} if len(messages) > 1 else {}
            self._shorten_latest(messages[-1], excess, int(room * _MIN_LATEST_SHARE), calls)

    def _replace_parts(self, message: Message, parts: Sequence[MessagePart]) -> int:
        """Use other parts for a message from now on. Returns how many tokens that saves."""
        seen = self._seen(message)
        if all(new is old for new, old in zip(parts, seen.parts, strict=True)):
            return 0
        shorter = self._shortened[message] = Message(message.role, tuple(parts))
        return self._count(seen) - self._count(shorter)

    def _shorten_latest(
        self, message: Message, excess: int, min_tokens: int, calls: Mapping[str | None, FunctionCall]
    ) -> None:
        """Cut the results and attachments of the latest message to equal shares of the room that is left."""
        seen = self._seen(message)
        cuttable = {id(part): estimate_part_tokens(part) for part in _cuttable_parts(seen)}
        if cuttable:
            tokens = max(min_tokens, sum(cuttable.values()) - excess)
            share = max(_MIN_LATEST_TOKENS, tokens // len(cuttable))
            parts = [_cut_result(part, share, calls) if id(part) in cuttable else part for part in seen.parts]
            self._replace_parts(message, parts)

    def _drop_oldest(
        self, messages: Sequence[Message], fitted: FittedHistory, room: int, preamble_length: int
    ) -> FittedHistory:
        """Leave out whole messages after the preamble, and keep the request that the model is working on."""
        kept = fitted.tokens
        for first in range(preamble_length + 1, len(messages)):
            kept -= self._count(fitted.messages[first - 1])
            is_last = first == len(messages) - 1
            if messages[first].responses or (kept > room * _TARGET_SHARE and not is_last):
                continue
            shorter = self._from(fitted.messages, first, preamble_length)
            if shorter.tokens <= room:
                self._first_kept = messages[first]
                return shorter
        return fitted

    def _from(self, view: Sequence[Message], first: int, preamble_length: int) -> FittedHistory:
        """Return the messages from `first` on, after the preamble and a note."""
        request = _last_request(view)
        missing = view[request] if request is not None and request < first else None
        kept = _assemble(view, first, preamble_length, missing)
        return FittedHistory(kept, sum(map(self._count, kept)), is_shortened=True, dropped=first - preamble_length)


def _assemble(view: Sequence[Message], first: int, preamble_length: int, request: Message | None) -> list[Message]:
    """Join the preamble, a note and the messages from `first` on, so that roles alternate."""
    note = _DROPPED_NOTE
    if request is not None:
        note += _REQUEST_NOTE + _request_text(request)
    preamble, kept = list(view[:preamble_length]), list(view[first:])
    opening: tuple[MessagePart, ...] = (Text(note),)
    if preamble and preamble[-1].role is Role.USER:
        opening = preamble.pop().parts + opening
    if kept[0].role is Role.USER:
        opening += kept.pop(0).parts
    return [*preamble, user_message(*opening), *kept]


def _last_request(view: Sequence[Message]) -> int | None:
    """Return the index of the last message that is a request of the user."""
    for index in range(len(view) - 1, -1, -1):
        if view[index].role is Role.USER and not view[index].responses:
            return index
    return None


def _request_text(message: Message) -> str:
    text = "\n".join(_text_of(part) for part in message.parts if isinstance(part, Text))
    return text if len(text) <= _MAX_REQUEST_CHARS else f"{text[:_MAX_REQUEST_CHARS]}\n[cut]"


def _text_of(part: MessagePart) -> str:
    return part.text if isinstance(part, Text) else ""


def _without_long_parts(message: Message) -> list[MessagePart]:
    """Return the parts of an older message without long results, attachments and arguments."""
    shorten = _leave_out_result if message.responses else _leave_out_long
    texts = [_text_of(part) for part in message.parts]
    begin = texts.index(CONTENT_START) + 1 if CONTENT_START in texts else len(texts)
    return [
        *map(shorten, message.parts[:begin]),
        *(
            Text(_ATTACHMENT_LEFT_OUT) if estimate_part_tokens(part) > _MIN_RESULT_TOKENS else part
            for part in message.parts[begin:]
        ),
    ]


def _leave_out_result(part: MessagePart) -> MessagePart:
    """Return a note instead of a long result of a tool. The instructions of a skill count as long as it is active."""
    match part:
        case FunctionResponse(name) if estimate_part_tokens(part) > _MIN_RESULT_TOKENS and name != ACTIVATE_SKILL:
            return replace(part, response={"output": _LEFT_OUT.format(name=name)})
        case _:
            return _leave_out_long(part)


def _leave_out_long(part: MessagePart) -> MessagePart:
    """Return a shorter part for media, and for a call with long arguments."""
    match part:
        case InlineData(mime_type) | FileData(mime_type):
            return Text(f"[{mime_type or 'Media'}, left out to save room.]")
        case FunctionCall(args=args) if any(len(value) > _MAX_ARGUMENT_CHARS for value in _strings(args)):
            shorter = {key: _cut_argument(value) for key, value in args.items()}
            return replace(part, args=shorter)
        case _:
            return part


def _strings(arguments: Mapping[str, object]) -> Iterator[str]:
    return (value for value in arguments.values() if isinstance(value, str))


def _cut_argument(value: object) -> object:
    if not isinstance(value, str) or len(value) <= _MAX_ARGUMENT_CHARS:
        return value
    return f"{value[:_MAX_ARGUMENT_CHARS]} [{len(value) - _MAX_ARGUMENT_CHARS} characters left out to save room]"


def _cuttable_parts(message: Message) -> list[MessagePart]:
    """Return what may be cut in the latest message: results of tools and attached files, not words of the user."""
    parts, texts = message.parts, [_text_of(part) for part in message.parts]
    begin = texts.index(CONTENT_START) + 1 if CONTENT_START in texts else len(parts)
    if message.responses:
        # Further content of a result follows it. A text of the user comes last and is short.
        begin = min(begin, next(index for index, part in enumerate(parts) if isinstance(part, FunctionResponse)))
    return [part for part in parts[begin:] if estimate_part_tokens(part) > _MIN_LATEST_TOKENS]


def _cut_result(part: MessagePart, max_tokens: int, calls: Mapping[str | None, FunctionCall]) -> MessagePart:
    match part:
        case FunctionResponse(response=response, id=call_id):
            hint = _continuation_hint(calls.get(call_id))
            cut = {key: _cut_value(value, max_tokens // len(response), hint) for key, value in response.items()}
            return replace(part, response=cut)
        case Text():
            return _cut_text(part, max_tokens)
        case _:
            return _leave_out_long(part)


def _cut_value(value: JsonValue, max_tokens: int, hint: Callable[[int], str]) -> JsonValue:
    if isinstance(value, str):
        return _cut_lines(value, max_tokens, hint)
    if estimate_part_tokens(FunctionResponse("", {"value": value})) <= max_tokens:
        return value
    return "[Left out: too long.]"


def _continuation_hint(call: FunctionCall | None) -> Callable[[int], str]:
    """Return what to say about the rest of a result of which so many lines are shown."""
    if call is None or call.name != "read_file":
        return lambda _lines: "Narrow the call to see the rest."
    offset = call.args.get("offset")
    begin = int(offset) if isinstance(offset, int | float) else 0
    return lambda lines: f"Call read_file with offset {begin + lines} for the rest, and with a limit."


def _cut_text(part: MessagePart, max_tokens: int) -> MessagePart:
    if not isinstance(part, Text):
        return part
    cut = _cut_lines(part.text, max_tokens, lambda _lines: "")
    return part if cut is part.text else Text(cut)


def _cut_lines(text: str, max_tokens: int, hint: Callable[[int], str]) -> str:
    """Keep whole lines from the beginning, with a note of how many are shown."""
    if estimate_text_tokens(text) <= max_tokens:
        return text
    shown = text[: max(0, max_tokens * CHARACTERS_PER_TOKEN)]
    while shown and estimate_text_tokens(shown) > max_tokens:
        shown = shown[: len(shown) * 3 // 4]
    end = shown.rfind("\n") + 1
    shown = shown[:end] if end > len(shown) // 2 else shown
    lines, total = shown.count("\n"), text.count("\n") + 1
    note = f"[Cut here to fit the context window: {lines} of {total} lines are shown. {hint(lines)}".rstrip() + "]"
    if not lines:
        note = f"[Cut here to fit the context window: {len(shown)} of {len(text)} characters are shown.]"
    return f"{shown.rstrip(chr(10))}\n{note}"
