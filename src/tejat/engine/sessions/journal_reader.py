"""Reading of a journal into a history that the session can continue with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BufferedReader
from itertools import count
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.history import Message, Role, interrupted_response, repair_history
from tejat.core.messages.message_json import message_from_json, message_part_from_json, usage_from_json
from tejat.core.messages.types import JsonObject, JsonValue, MessagePart
from tejat.core.model import NO_USAGE, Usage
from tejat.engine.loop.archive import common_tail
from tejat.engine.sessions.journal_format import FORMAT_VERSION, MAX_LINE_BYTES, RecordKind, decode_records
from tejat.engine.sessions.rewind_points import RewindPoint, RewindPoints

if TYPE_CHECKING:
    from tejat.core.messages.json_fields import JsonFields

_MAX_BATCH_LINES = 64
_MAX_BATCH_BYTES = 1 << 20


class LoadedSession(Frozen):
    """A session as read from its journal. `messages` are valid; the first `preamble_length` precede any prompt.

    `repairs` are corrections of the history, `problems` unreadable parts of the file, both as sentences. `model` gave
    the last answer. `rewind_points` are the prompts that can be rewound to. `replaced` are the messages that summaries
    have replaced; the first `head_length` messages are the preamble and the last summary.
    """

    session_id: str
    model: str
    messages: tuple[Message, ...]
    preamble_length: int = 0
    usage: Usage = NO_USAGE
    repairs: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    rewind_points: tuple[RewindPoint, ...] = ()
    state: JsonObject = MappingProxyType({})
    """The values of the session's state."""
    replaced: tuple[Message, ...] = ()
    head_length: int = 0


def read_journal(descriptor: int, *, session_id: str) -> LoadedSession:
    """Read the session in an open file. `session_id` is used if the file does not name one. Raises OSError."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    with open(descriptor, "rb", closefd=False) as file:
        return load_session(_read_lines(file), session_id=session_id)


def load_session(lines: Iterable[bytes], *, session_id: str) -> LoadedSession:
    """Load the session with these lines. `session_id` is used if they do not name one."""
    replay = _Replay(session_id)
    problems = _ReadProblems()
    for number, line, record in _decode_lines(lines):
        try:
            if record is None:
                problems.add_damaged_line(number, line)
            elif not replay.apply(record):
                problems.newer += 1
        except ValueError:
            problems.add_damaged_line(number, line)
    if not replay.has_head:
        problems.others.append(lazy("The start of the session is missing."))
    messages, repairs = repair_history(replay.finish())
    preamble = replay.preamble if _same_content(messages[: len(replay.preamble)], replay.preamble) else []
    return LoadedSession(
        replay.session_id,
        replay.model,
        tuple(messages),
        len(preamble),
        replay.usage,
        tuple(repairs),
        tuple(problems.messages()),
        () if repairs else tuple(replay.rewind_points),
        replay.state,
        tuple(replay.replaced),
        min(replay.head_length, len(messages)),
    )


def _same_content(some: Sequence[Message], others: Sequence[Message]) -> bool:
    """Compare messages by content: a summary holds the preamble as other objects."""
    return [(message.role, message.parts) for message in some] == [(message.role, message.parts) for message in others]


def _decode_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes, JsonFields | None]]:
    """Yield the number of each line, the line, and its record; None for a damaged one."""
    batch: list[bytes] = []
    number, size = 0, 0
    for line in lines:
        batch.append(line)
        size += len(line)
        if len(batch) == _MAX_BATCH_LINES or size > _MAX_BATCH_BYTES:
            yield from zip(count(number + 1), batch, decode_records(batch), strict=False)
            number += len(batch)
            batch, size = [], 0
    yield from zip(count(number + 1), batch, decode_records(batch), strict=False)


def _read_lines(file: BufferedReader) -> Iterator[bytes]:
    """Yield the lines, overlong ones truncated."""
    while line := file.readline(MAX_LINE_BYTES):
        yield line
        while line and not line.endswith(b"\n"):
            line = file.readline(1 << 20)


class _Replay:
    """Replays the records of a journal."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.model = ""
        self.preamble: list[Message] = []
        self._usages: list[Usage] = []
        self.has_head = False
        self.rewind_points = RewindPoints()
        self.state: dict[str, JsonValue] = {}
        self.replaced: list[Message] = []
        self.head_length = 0
        self._messages: list[Message] = []
        self._results: dict[int, tuple[MessagePart, ...]] = {}
        self._settled: Message | None = None
        # Not as patterns: a long session has tens of thousands of records.
        self._replays: dict[str, Callable[[JsonFields], None]] = {
            RecordKind.SESSION: self._start,
            RecordKind.OPENING: self._open,
            RecordKind.COMPRESSED: self._compress,
            RecordKind.PROMPT: self._add_user,
            RecordKind.ANSWER: self._add_model,
            RecordKind.RESPONSE: self._add_response,
            RecordKind.WITHDRAWN: self._withdraw,
            RecordKind.REWOUND: self._rewind,
            RecordKind.STATE: self._set_state,
            RecordKind.RESUMED: self._resume,
        }

    @property
    def usage(self) -> Usage:
        """The sum of all answers."""
        names = ("prompt", "cached", "output", "thoughts", "tool", "cache_write")
        return Usage(*(sum(map(attrgetter(name), self._usages)) for name in names))

    def apply(self, record: JsonFields) -> bool:
        """Apply a record. False for an unknown version. Raises ValueError, and then changes nothing."""
        if record.value("v") != FORMAT_VERSION:
            return False
        replay = self._replays.get(record.string("kind"))
        if replay is not None:
            replay(record)
        return True

    def _start(self, record: JsonFields) -> None:
        self.session_id, self.model = record.string("session"), record.string("model")
        self.has_head = True

    def _open(self, record: JsonFields) -> None:
        self.preamble = _parse_messages(record)
        self._replace(self.preamble)
        self.head_length = len(self.preamble)

    def _add_response(self, record: JsonFields) -> None:
        parts = tuple([message_part_from_json(part) for part in record.items("parts")])
        self._results[record.integer("index")] = parts

    def _resume(self, _record: JsonFields) -> None:
        self._answer_calls()
        self._settle()

    def _set_state(self, record: JsonFields) -> None:
        key, value = record.string("key"), record.value("value")
        if value is None:
            self.state.pop(key, None)
        else:
            self.state[key] = value

    def finish(self) -> list[Message]:
        """Return all messages. Unanswered calls are left to be repaired, which is reported."""
        known = tuple(part for index in sorted(self._results) for part in self._results[index])
        if known:
            self._messages.append(Message(Role.USER, known))
        return self._messages

    def _replace(self, messages: list[Message]) -> None:
        self._messages = list(messages)
        self._results = {}
        self.rewind_points.clear()
        self._settle()

    def _compress(self, record: JsonFields) -> None:
        """Replace all messages by a summary and the last ones; older journals do not say how many those are."""
        messages, kept = _parse_messages(record), record.integer_or_none("kept")
        self._answer_calls()
        before = self._messages
        if kept is None or not 0 <= kept <= min(len(before), len(messages)):
            kept = common_tail(before, messages)
        self.replaced += before[self.head_length : len(before) - kept]
        self._replace(messages)
        self.head_length = len(messages) - kept

    def _rewind(self, record: JsonFields) -> None:
        length, prompt = record.integer("messages"), record.integer_or_none("prompt")
        self._answer_calls()
        self._messages = self.rewind_points.rewind(prompt, length, self._messages)
        self.head_length = min(self.head_length, length)
        self._settle()

    def _settle(self) -> None:
        """Make the current messages permanent."""
        is_user = self._messages and self._messages[-1].role is Role.USER
        self._settled = self._messages[-1] if is_user else None

    def _add_user(self, record: JsonFields) -> None:
        message, display_text = message_from_json(record.object("message")), record.string_or_none("shown")
        at, permanent = record.number_or_none("at") or 0.0, record.has("stays")
        self._answer_calls()
        if display_text and not permanent:
            self.rewind_points.add(display_text, at, self._messages)
        if self._messages and self._messages[-1].role is Role.USER:
            self._messages[-1] = Message(Role.USER, self._messages[-1].parts + message.parts)
        else:
            self._messages.append(message)
        if permanent:
            self._settle()

    def _add_model(self, record: JsonFields) -> None:
        message, model = message_from_json(record.object("message")), record.string("model")
        usage = usage_from_json(record.object("usage"))
        self._answer_calls()
        self._messages.append(message)
        self._settled = None
        self.model = model
        self._usages.append(usage)

    def _answer_calls(self) -> None:
        """Answer open calls as interrupted: the session continued, so this was reported before."""
        calls = self._messages[-1].calls if self._messages else ()
        if calls:
            parts: list[MessagePart] = []
            for index, call in enumerate(calls):
                found = self._results.get(index)
                parts += (interrupted_response(call),) if found is None else found
            self._settled = Message(Role.USER, tuple(parts))
            self._messages.append(self._settled)
        self._results = {}

    def _withdraw(self, _record: JsonFields) -> None:
        self._drop_unanswered_prompt()
        self.rewind_points.withdraw_last(self._messages)

    def _drop_unanswered_prompt(self) -> None:
        """Do what the method of `History` did."""
        if not self._messages or self._messages[-1].role is Role.MODEL or self._messages[-1] is self._settled:
            return
        if self._settled is None:
            self._messages.pop()
        else:
            self._messages[-1] = self._settled


def _parse_messages(record: JsonFields) -> list[Message]:
    """Raises ValueError."""
    return [message_from_json(message) for message in record.items("messages")]


class _ReadProblems:
    """What could not be read."""

    def __init__(self) -> None:
        self.newer = 0
        self.others: list[str] = []
        self._damaged: list[int] = []
        self._is_torn = False

    def add_damaged_line(self, number: int, line: bytes) -> None:
        if not line.strip():
            return
        self._is_torn = not line.endswith(b"\n") and len(line) < MAX_LINE_BYTES
        if not self._is_torn:
            self._damaged.append(number)

    def messages(self) -> Iterator[str]:
        yield from self.others
        if len(self._damaged) == 1:
            yield lazy("Skipped damaged line {number}.", number=self._damaged[0])
        elif self._damaged:
            yield lazy(
                "Skipped {damaged} damaged lines, the first at line {first}.",
                damaged=len(self._damaged),
                first=self._damaged[0],
            )
        if self._is_torn:
            yield lazy("Skipped the last record: it is incomplete.")
        if self.newer:
            yield lazy("Skipped records from a newer version of Tejat: {newer}.", newer=self.newer)
