"""Writes down a session as it happens, so that it can be taken up again after any end."""

import errno
import fcntl
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from tejat.core.agent.history_events import (
    CallResponsesAdded,
    HistoryEvent,
    HistoryReplaced,
    HistoryRewound,
    PromptAdded,
    PromptWithdrawn,
    ResponseAdded,
    RunFinished,
)
from tejat.core.i18n import gettext_lazy
from tejat.core.messages.history import Message, Role
from tejat.core.messages.message_json import message_part_to_json, message_to_json, usage_to_json
from tejat.core.messages.types import JsonObject, JsonValue, Part
from tejat.core.model import Usage
from tejat.engine.sessions.journal_format import RecordKind, encode_record
from tejat.workspace.files import file_lock
from tejat.workspace.files.private_files import create_private_file, make_private_directory

SUFFIX = ".jsonl"
MAX_TITLE_LENGTH = 200
MASKED = "***"

_MIN_SECRET_LENGTH = 8
_MAX_ATTEMPTS = 50


class SessionJournal:
    """One file that only grows. When a method returns, its record is in the file and survives a kill of the process.

    Prompts, answers and compressions are on the disk then, and survive a power cut too, with all that was written
    before. What came of calls waits for the next answer: twenty calls at once would wait twenty times for the disk.

    Nothing raises: where the disk is full or may not be written, `failure` becomes a sentence, and from then on nothing
    is recorded. A new session's file is made by its first prompt, so that one in which nothing was asked leaves none.
    The file is locked until `close`, by which others see that it is in use. For one thread.
    """

    def __init__(
        self,
        session_id: str,
        path: str,
        *,
        pending: Sequence[JsonObject] = (),
        secrets: Sequence[str] = (),
        now: Callable[[], float] = time.time,
    ) -> None:
        """Use `create` or `reopen`. `held` is written together with the first prompt."""
        self.session_id = session_id
        self.path = path
        self.failure: str | None = None
        self._pending = list(pending)
        self._mask = JournalMask(secrets)
        self._now = now
        self._descriptor = -1
        self._prefix = b""

    @classmethod
    def create(
        cls,
        directory: str,
        *,
        session_id: str,
        root: str,
        model: str,
        secrets: Sequence[str] = (),
        now: Callable[[], float] = time.time,
    ) -> "SessionJournal":
        """A new session, in a directory that is made when it is needed. `secrets` are never written."""
        began = now()
        stamp = time.strftime("%Y-%m-%dT%H-%M-%S", time.gmtime(began))
        path = os.path.join(directory, f"{stamp}-{_short_id(session_id)}{SUFFIX}")
        head = {"kind": RecordKind.SESSION, "at": round(began, 3), "session": session_id, "root": root, "model": model}
        return cls(session_id, path, pending=[head], secrets=secrets, now=now)

    @classmethod
    def reopen(
        cls,
        session_id: str,
        path: str,
        descriptor: int,
        *,
        secrets: Sequence[str] = (),
        now: Callable[[], float] = time.time,
    ) -> "SessionJournal":
        """A session that goes on. The descriptor appends, holds the lock, and belongs to the journal from now on."""
        resumed = {"kind": RecordKind.RESUMED, "at": round(now(), 3)}
        journal = cls(session_id, path, pending=[resumed], secrets=secrets, now=now)
        journal._descriptor = descriptor
        journal._prefix = _missing_newline(descriptor)
        return journal

    @classmethod
    def read_only(cls, session_id: str, path: str, error: OSError) -> "SessionJournal":
        """A session that goes on and can only be read."""
        journal = cls(session_id, path)
        journal._disable(error)
        return journal

    def record(self, event: HistoryEvent) -> None:
        """Write down a change of the history: the listener that keeps the journal."""
        match event:
            case PromptAdded(message, display_text, permanent):
                self.record_prompt(message, display_text, permanent=permanent)
            case ResponseAdded(message, usage, model):
                self.record_answer(message, usage, model)
            case CallResponsesAdded(responses):
                self.record_responses(responses)
            case PromptWithdrawn():
                self._write_if_started(self._record(RecordKind.WITHDRAWN))
            case HistoryReplaced(messages):
                self.record_compression(messages)
            case HistoryRewound(length, prompt):
                if not self._is_new:
                    self._write(self._record(RecordKind.REWOUND, messages=length, prompt=prompt))
            case RunFinished(reason):
                self._write_if_started(self._record(RecordKind.ENDED, reason=reason))

    def record_preamble(self, messages: Sequence[Message]) -> None:
        """What the conversation begins with, before anybody asked."""
        record = self._record(RecordKind.OPENING, messages=[message_to_json(message) for message in messages])
        if self._is_new:
            self._pending.append(record)
        else:
            self._write(record)

    def record_prompt(self, message: Message, display_text: str, *, permanent: bool = False) -> None:
        """Record a prompt. The first `display_text` is the title of the session."""
        if self._is_new:
            title = " ".join(self._mask.mask(display_text or message.text).split())
            self._pending[0] = {**self._pending[0], "title": title[:MAX_TITLE_LENGTH]}
        fields = {"stays": True} if permanent else {}
        self._write(self._record(RecordKind.PROMPT, shown=display_text, message=message_to_json(message), **fields))

    def record_answer(self, message: Message, usage: Usage, model: str) -> None:
        """To be written before any of its calls is run."""
        fields = {"model": model, "usage": usage_to_json(usage), "message": message_to_json(message)}
        self._write(self._record(RecordKind.ANSWER, **fields))

    def record_responses(self, ended: Sequence[tuple[int, Sequence[Part]]]) -> None:
        """What came of calls of the last answer, each with its place among them."""
        self._write(
            *(
                self._record(RecordKind.RESPONSE, index=index, parts=[message_part_to_json(part) for part in parts])
                for index, parts in ended
            )
        )

    def record_compression(self, messages: Sequence[Message]) -> None:
        """These are the whole conversation now."""
        record = self._record(RecordKind.COMPRESSED, messages=[message_to_json(message) for message in messages])
        if self._is_new:
            self._pending.append(record)
        else:
            self._write(record)

    def close(self) -> None:
        """Let others have the session. What comes later is not recorded."""
        self._pending = []
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    @property
    def _is_new(self) -> bool:
        """Whether nobody has asked anything yet."""
        return bool(self._pending) and self._pending[0]["kind"] is RecordKind.SESSION

    def _record(self, kind: RecordKind, **fields: JsonValue) -> JsonObject:
        return {"kind": kind, "at": round(self._now(), 3), **fields}

    def _write_if_started(self, record: JsonObject) -> None:
        if not self._pending:
            self._write(record)

    def _write(self, *records: JsonObject) -> None:
        held, self._pending = self._pending, []
        is_new = self._descriptor < 0
        if is_new and not held:
            return
        try:
            lines = b"".join(self._mask.encode(each) for each in (*held, *records))
            if is_new:
                self._create_file()
            _append(self._descriptor, self._prefix + lines)
            if any(record["kind"] not in _UNSYNCED_KINDS for record in records):
                _sync(self._descriptor)
            self._prefix = b""
        except (OSError, ValueError) as error:
            if is_new and self._descriptor >= 0:
                with suppress(OSError):
                    os.unlink(self.path)
            self._disable(error)

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
                # Whoever tidies up has just removed the empty directory.
                continue
            else:
                break
        else:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self.path)
        fcntl.fcntl(self._descriptor, fcntl.F_SETFL, fcntl.fcntl(self._descriptor, fcntl.F_GETFL) | os.O_APPEND)
        try_lock(self._descriptor)
        _sync_directory(directory)

    def _disable(self, error: OSError | ValueError) -> None:
        self.close()
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        self.failure = gettext_lazy(
            "This session is not recorded any further, in {path}: {reason}.", path=self.path, reason=reason
        )


def try_lock(descriptor: int) -> bool:
    """Claim an open journal until the descriptor is closed; False if somebody else has it. Raises nothing."""
    try:
        return file_lock.try_lock(descriptor)
    except OSError:
        # A file system without locks cannot tell, and a session is worth more than the certainty.
        return True


def _short_id(session_id: str) -> str:
    """The beginning of an id, fit to be in a file name whoever chose it."""
    return "".join(letter for letter in session_id if letter.isascii() and letter.isalnum())[:8] or "session"


def _missing_newline(descriptor: int) -> bytes:
    """What has to be written so that the next record begins on a line of its own. Raises OSError."""
    size = os.fstat(descriptor).st_size
    return b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""


def _append(descriptor: int, lines: bytes) -> None:
    """Write everything or nothing. Raises OSError."""
    rest = memoryview(lines)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except BaseException:
        # Nobody else writes here, so what stands last is ours.
        with suppress(OSError):
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - (len(lines) - len(rest)))
        raise


_UNSYNCED_KINDS = frozenset({RecordKind.RESPONSE, RecordKind.ENDED})


def _sync(descriptor: int) -> None:
    """Wait until the disk has it. Raises OSError."""
    if sys.platform == "darwin":
        os.fsync(descriptor)
    else:
        os.fdatasync(descriptor)


def _sync_directory(path: str) -> None:
    """Make the name of a new file last. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class JournalMask:
    """Keeps secrets out of what is written."""

    def __init__(self, secrets: Sequence[str]) -> None:
        """Very short ones are no secrets, and their letters occur everywhere."""
        self._secrets = sorted((each for each in secrets if len(each) >= _MIN_SECRET_LENGTH), key=len, reverse=True)
        # As they look inside a line, where a quotation mark is escaped, and any other letter may be.
        self._spellings = {
            json.dumps(each, ensure_ascii=ensure_ascii)[1:-1].encode("utf-8", "replace")
            for each in self._secrets
            for ensure_ascii in (True, False)
        }

    def encode(self, record: JsonObject) -> bytes:
        """The line of a record. Raises ValueError: see `encode_record`."""
        line = encode_record(record)
        if any(spelling in line for spelling in self._spellings):
            line = encode_record({name: self._mask_value(value) for name, value in record.items()})
        return line

    def mask(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, MASKED)
        return text

    def _mask_value(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return value if value in _UNMASKED_VALUES else self.mask(value)
        if isinstance(value, Mapping):
            # The names of our own fields are plain words, and must stay for the record to be read.
            return {name if name.isalpha() else self.mask(name): self._mask_value(item) for name, item in value.items()}
        if isinstance(value, Sequence):
            return [self._mask_value(item) for item in value]
        return value


_UNMASKED_VALUES = frozenset({*RecordKind, *Role})
