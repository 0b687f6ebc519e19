"""The journal of a session: an append-only file from which the session can be resumed."""

import errno
import fcntl
import json
import os
import sys
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TypeAlias

from tejat.core.agent.history_events import (
    CallResponsesAdded,
    HistoryEvent,
    HistoryReplaced,
    HistoryRewound,
    PromptAdded,
    PromptWithdrawn,
    ResponseAdded,
    RunFinished,
    StateRecorded,
)
from tejat.core.i18n import lazy
from tejat.core.messages.history import Message, Role
from tejat.core.messages.message_json import message_part_to_json, message_to_json, usage_to_json
from tejat.core.messages.types import JsonObject, JsonValue, Part
from tejat.core.model import Usage
from tejat.core.text.secret_mask import anonymous_mask, mask_tokens
from tejat.core.text.token_shapes import may_hold_tokens
from tejat.engine.sessions.journal_format import RecordKind, encode_record
from tejat.workspace.files import file_lock
from tejat.workspace.files.private_files import create_private_file, make_private_directory, sync_directory
from tejat.workspace.files.regular_file import open_fd

Clock: TypeAlias = Callable[[], float]
SUFFIX = ".jsonl"
MAX_TITLE_LENGTH = 200

_MIN_SECRET_LENGTH = 8
_MAX_ATTEMPTS = 50


class SessionJournal:
    """An append-only file. When a method returns, its record survives a kill of the process.

    Prompts, answers and compressions are also synced to the disk, with everything before them. Responses of calls wait
    for the next answer, so that many calls do not wait for the disk one by one.

    Nothing raises: if the file cannot be written, `failure` becomes a message and nothing more is recorded. The file of
    a new session is created by its first prompt. It is locked until `close`. Not thread-safe.
    """

    def __init__(
        self,
        session_id: str,
        path: str,
        *,
        pending: Sequence[JsonObject] = (),
        secrets: Sequence[str] = (),
        now: Clock = time.time,
    ) -> None:
        """Use `create` or `reopen`. `pending` is written together with the first prompt."""
        self.session_id = session_id
        self.path = path
        self.failure: str | None = None
        self._pending = list(pending)
        self._mask = JournalMask(secrets)
        self._now = now
        self._descriptor = -1
        self._prefix = b""
        self._syncs = True

    @classmethod
    def create(
        cls,
        directory: str,
        *,
        session_id: str,
        root: str,
        model: str,
        secrets: Sequence[str] = (),
        now: Clock = time.time,
    ) -> "SessionJournal":
        """Create the journal of a new session. The directory is created on first use; `secrets` are masked."""
        started = now()
        stamp = time.strftime("%Y-%m-%dT%H-%M-%S", time.gmtime(started))
        path = os.path.join(directory, stamp + journal_name_ending(session_id))
        kind, at = RecordKind.SESSION, round(started, 3)
        head = {"kind": kind, "at": at, "session": session_id, "root": root, "model": model}
        return cls(session_id, path, pending=[head], secrets=secrets, now=now)

    @classmethod
    def reopen(
        cls, session_id: str, path: str, descriptor: int, *, secrets: Sequence[str] = (), now: Clock = time.time
    ) -> "SessionJournal":
        """Continue a journal. The descriptor appends, holds the lock and is owned by the journal."""
        resumed = {"kind": RecordKind.RESUMED, "at": round(now(), 3)}
        journal = cls(session_id, path, pending=[resumed], secrets=secrets, now=now)
        journal._descriptor = descriptor
        journal._prefix = _missing_newline(descriptor)
        return journal

    @classmethod
    def read_only(cls, session_id: str, path: str, error: OSError) -> "SessionJournal":
        """Return the journal of a resumed session that cannot be written."""
        journal = cls(session_id, path)
        journal._disable(error)
        return journal

    @contextmanager
    def sync_once(self) -> Generator[None]:
        """Sync the file to the disk at the end of the block and not for each record: for very many of them."""
        self._syncs = False
        try:
            yield
        finally:
            self._syncs = True
            try:
                if self._descriptor >= 0:
                    _sync(self._descriptor)
            except OSError as error:
                self._disable(error)

    def record(self, event: HistoryEvent) -> None:
        """Record a change of the history. This is the listener of `Conversation.history_events`."""
        match event:
            case PromptAdded(message, display_text, permanent):
                self.record_prompt(message, display_text, permanent=permanent)
            case ResponseAdded(message, usage, model, seconds):
                self.record_answer(message, usage, model, seconds)
            case CallResponsesAdded(responses):
                self.record_responses(responses)
            case PromptWithdrawn():
                self._write_if_started(self._record(RecordKind.WITHDRAWN))
            case HistoryReplaced(messages, kept):
                self.record_compression(messages, kept)
            case HistoryRewound(length, prompt):
                if not self._is_new:
                    self._write(self._record(RecordKind.REWOUND, messages=length, prompt=prompt))
            case RunFinished(reason):
                self._write_if_started(self._record(RecordKind.ENDED, reason=reason))
            case StateRecorded(key, value):
                self.record_state(key, value)

    def record_preamble(self, messages: Sequence[Message]) -> None:
        """Record the messages before the first prompt."""
        self._record_messages(RecordKind.OPENING, messages)

    def record_prompt(self, message: Message, display_text: str, *, permanent: bool = False) -> None:
        """Record a prompt. The first `display_text` is the title of the session."""
        if self._is_new:
            title = " ".join(self._mask.mask(display_text or message.text).split())
            self._pending[0] = {**self._pending[0], "title": title[:MAX_TITLE_LENGTH]}
        fields = {"stays": True} if permanent else {}
        self._write(self._record(RecordKind.PROMPT, shown=display_text, message=message_to_json(message), **fields))

    def record_answer(self, message: Message, usage: Usage, model: str, seconds: float | None = None) -> None:
        """Record an answer, before any of its calls runs. `seconds` is the time of the request, None if unknown."""
        fields = {"model": model, "usage": usage_to_json(usage), "message": message_to_json(message)}
        times = {} if seconds is None else {"seconds": round(seconds, 3)}
        self._write(self._record(RecordKind.ANSWER, **times, **fields))

    def record_responses(self, responses: Sequence[tuple[int, Sequence[Part]]]) -> None:
        """Record responses to calls of the last answer, each with the index of its call."""
        encoded = [(index, [message_part_to_json(part) for part in parts]) for index, parts in responses]
        self._write(*(self._record(RecordKind.RESPONSE, index=index, parts=parts) for index, parts in encoded))

    def record_compression(self, messages: Sequence[Message], kept: int | None = None) -> None:
        """Record the messages that are the whole conversation now. The last `kept` of them were there before."""
        self._record_messages(RecordKind.COMPRESSED, messages, **({} if kept is None else {"kept": kept}))

    def record_state(self, key: str, value: JsonValue) -> None:
        """Record a value of the session's state, None for a removed one."""
        record = self._record(RecordKind.STATE, key=key, value=value)
        if self._is_new:
            self._pending.append(record)
        else:
            self._write(record)

    def record_agent(self, agent_id: str, records: Iterable[JsonObject]) -> None:
        """Record what happened in a run of a sub-agent. It does not become part of the history."""
        records = [self._record(RecordKind.AGENT, agent=agent_id, record=record) for record in records]
        if records and not self._pending:
            self._write(*records)

    def record_figures(self, kind: RecordKind, fields: JsonObject) -> None:
        """Record figures of a call or a run. They do not become part of the history."""
        self._write_if_started(self._record(kind, **fields))

    def close(self) -> None:
        """Release the session. Later records are dropped."""
        self._pending = []
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    @property
    def _is_new(self) -> bool:
        """Whether there was no prompt yet."""
        return bool(self._pending) and self._pending[0]["kind"] is RecordKind.SESSION

    def _record(self, kind: RecordKind, **fields: JsonValue) -> JsonObject:
        return {"kind": kind, "at": round(self._now(), 3), **fields}

    def _record_messages(self, kind: RecordKind, messages: Sequence[Message], **fields: JsonValue) -> None:
        record = self._record(kind, messages=[message_to_json(message) for message in messages], **fields)
        if self._is_new:
            self._pending.append(record)
        else:
            self._write(record)

    def _write_if_started(self, record: JsonObject) -> None:
        if not self._pending:
            self._write(record)

    def _write(self, *records: JsonObject) -> None:
        pending, self._pending = self._pending, []
        if not self._is_open and not pending:
            return
        try:
            lines = b"".join(self._mask.encode(each) for each in (*pending, *records))
            self._append(lines, syncs=any(record["kind"] not in _UNSYNCED_KINDS for record in records))
        except (OSError, ValueError) as error:
            self._disable(error)

    @property
    def _is_open(self) -> bool:
        """Whether something was written, and more can be."""
        return self._descriptor >= 0

    def _append(self, lines: bytes, *, syncs: bool) -> None:
        """Append lines to the file, which is created first if it is new. Raises OSError."""
        is_new = not self._is_open
        try:
            if is_new:
                self._create_file()
            _append(self._descriptor, self._prefix + lines)
            if self._syncs and syncs:
                _sync(self._descriptor)
            self._prefix = b""
        except OSError:
            if is_new and self._descriptor >= 0:
                with suppress(OSError):
                    os.unlink(self.path)
            raise

    def _create_file(self) -> None:
        """Raises OSError."""
        directory, name = os.path.split(self.path)
        stem = name.removesuffix(SUFFIX)
        for attempt in range(1, _MAX_ATTEMPTS):
            make_private_directory(directory)
            try:
                self._descriptor = create_private_file(self.path)
            except FileExistsError:
                self.path = os.path.join(directory, f"{stem}-{attempt}{SUFFIX}")
            except FileNotFoundError:
                # Another process has just pruned the empty directory.
                continue
            else:
                break
        else:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self.path)
        fcntl.fcntl(self._descriptor, fcntl.F_SETFL, fcntl.fcntl(self._descriptor, fcntl.F_GETFL) | os.O_APPEND)
        try_lock(self._descriptor)
        with open_fd(directory, os.O_RDONLY | os.O_DIRECTORY) as descriptor:
            sync_directory(descriptor)

    def _disable(self, error: OSError | ValueError) -> None:
        self.close()
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        if self.path:
            self.failure = lazy("Stopped saving this session to {path}: {reason}.", path=self.path, reason=reason)
        else:
            self.failure = lazy("Stopped saving this session: {reason}.", reason=reason)


def try_lock(descriptor: int) -> bool:
    """Lock an open journal until its descriptor is closed. False if another process has it."""
    try:
        return file_lock.try_lock(descriptor)
    except OSError:
        # Without support for locks the session is still worth more than the certainty.
        return True


def journal_name_ending(session_id: str) -> str:
    """Return the end of the file name of a journal, with the beginning of the id of its session."""
    short = "".join(letter for letter in session_id if letter.isascii() and letter.isalnum())[:8] or "session"
    return f"-{short}{SUFFIX}"


def _missing_newline(descriptor: int) -> bytes:
    """Return a newline if the last record was cut off in the middle of its line. Raises OSError."""
    size = os.fstat(descriptor).st_size
    return b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""


def _append(descriptor: int, lines: bytes) -> None:
    """Write all of the lines or nothing. Raises OSError."""
    rest = memoryview(lines)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except BaseException:
        # Nobody else writes here, so the end of the file is ours.
        with suppress(OSError):
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - (len(lines) - len(rest)))
        raise


_UNSYNCED_KINDS = frozenset({RecordKind.RESPONSE, RecordKind.ENDED, RecordKind.AGENT, RecordKind.CALL, RecordKind.RUN})


def _sync(descriptor: int) -> None:
    """Flush the file to the disk. Raises OSError."""
    if sys.platform == "darwin":
        os.fsync(descriptor)
    else:
        os.fdatasync(descriptor)


class JournalMask:
    """Masks secrets in journal records: known values everywhere, tokens of known shapes in what people can read."""

    def __init__(self, secrets: Sequence[str]) -> None:
        """Very short values are not masked: they would occur everywhere."""
        self._text_mask = anonymous_mask(secrets, min_length=_MIN_SECRET_LENGTH)
        # As encoded in a line, where quotation marks are escaped, and other characters may be.
        self._spellings = {
            json.dumps(secret, ensure_ascii=ensure_ascii)[1:-1].encode("utf-8", "replace")
            for secret in self._text_mask.secrets
            for ensure_ascii in (True, False)
        }

    def encode(self, record: JsonObject) -> bytes:
        """Encode a record with its secrets masked. Raises ValueError as `encode_record` does."""
        line = encode_record(record)
        if may_hold_tokens(line) or any(spelling in line for spelling in self._spellings):
            line = encode_record({name: self._mask_value(value, self.mask) for name, value in record.items()})
        return line

    def mask(self, text: str) -> str:
        return mask_tokens(self._text_mask.mask_text(text))

    def _mask_value(self, value: JsonValue, mask: Callable[[str], str]) -> JsonValue:
        if isinstance(value, str):
            return value if value in _UNMASKED_VALUES else mask(value)
        if isinstance(value, Mapping):
            # The field names of the format are plain words and must stay readable.
            return {
                name if name.isalpha() else mask(name): self._mask_value(
                    item, self._text_mask.mask_text if name in _ENCODED_FIELDS else mask
                )
                for name, item in value.items()
            }
        if isinstance(value, Sequence):
            return [self._mask_value(item, mask) for item in value]
        return value


_UNMASKED_VALUES = frozenset({*RecordKind, *Role})
# A service must get these back as they were; letters in them may form any shape by chance.
_ENCODED_FIELDS = frozenset({"thoughtSignature", "inlineData", "opaque"})
