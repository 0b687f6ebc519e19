"""The model side of a run, kept in a file and played again from it without a key or a network."""

import json
import os
import stat
from asyncio import sleep
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import cast

from tejat.core.errors import UsageError
from tejat.core.json_fields import Fields
from tejat.core.model import (
    Ability,
    Answer,
    Chunk,
    FailureKind,
    ModelClient,
    ModelFailure,
    ModelRequest,
    TextDelta,
    ThoughtDelta,
)
from tejat.core.types import JsonObject, JsonValue
from tejat.core.value import value
from tejat.core.words import joined, phrase
from tejat.models.disguise import Disguise
from tejat.models.recorded_answers import chunk_from_json, chunk_to_json, failure_from_json, failure_to_json
from tejat.models.recorded_requests import Comparable, Comparing, check_pieces, comparable_from_json, difference
from tejat.workspace.regular_file import without_waiting

_VERSION = 1
_MARK = "tejat_recording"
_MOST_BYTES = 1 << 30


class Recording:
    """A model whose requests and answers are written to a file, one line each when it is over.

    `stand_ins` maps what is different elsewhere, like the root directory, to words like `${root}` that are written in
    its place. `secrets` are never written. `header` comes back as that of the replay. What goes wrong with the file
    later is told in `problem`, once, and the run goes on without a recording.
    """

    def __init__(
        self,
        inner: ModelClient,
        path: str,
        *,
        stand_ins: Mapping[str, str],
        secrets: Sequence[str],
        header: JsonObject,
    ) -> None:
        """Raises UsageError if the file cannot be written, or is there and is no recording."""
        self.problem: str | None = None
        self._inner = inner
        self._path = path
        self._disguise = Disguise(stand_ins, secrets)
        self._comparing = Comparing(self._disguise.hide)
        self._written: set[str] = set()
        self._file: int | None = _open_for_writing(path)
        self._write(
            {
                _MARK: _VERSION,
                "model": self._disguise.hide(inner.name),
                "context_window": inner.context_window,
                "abilities": sorted(inner.abilities),
                "header": self._disguise.hide(header),
            }
        )

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def context_window(self) -> int:
        return self._inner.context_window

    @property
    def abilities(self) -> frozenset[Ability]:
        return self._inner.abilities

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """What the inner model answers. Raises ModelFailure as that does."""
        # Now: the messages are a list that grows.
        asked = self._comparing.comparable(request)
        came: list[Chunk] = []
        failed: JsonObject = {}
        try:
            async with aclosing(self._inner.stream(request)) as chunks:
                async for chunk in chunks:
                    came.append(chunk)
                    yield chunk
        except ModelFailure as failure:
            failed = {"failure": self._disguise.hide(failure_to_json(failure))}
            raise
        finally:
            self._write_request(asked, {"chunks": self._hidden(came), **failed})

    async def count_tokens(self, request: ModelRequest) -> int:
        asked = self._comparing.comparable(request)
        count = await self._inner.count_tokens(request)
        self._write({"sha256": asked.digest, "count": count})
        return count

    async def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        await self._inner.close()

    def _hidden(self, chunks: Sequence[Chunk]) -> list[JsonValue]:
        """The chunks as JSON. The texts of all deltas are one text, which may be cut anywhere."""
        texts = iter(self._disguise.hide_pieces([chunk.text for chunk in chunks if isinstance(chunk, TextDelta)]))
        thoughts = iter(self._disguise.hide_pieces([chunk.text for chunk in chunks if isinstance(chunk, ThoughtDelta)]))
        written: list[JsonValue] = []
        for chunk in chunks:
            match chunk:
                case TextDelta():
                    written.append(chunk_to_json(TextDelta(next(texts))))
                case ThoughtDelta():
                    written.append(chunk_to_json(ThoughtDelta(next(thoughts))))
                case _:
                    written.append(self._disguise.hide(chunk_to_json(chunk)))
        return written

    def _write_request(self, asked: Comparable, answered: JsonObject) -> None:
        new = {digest: piece for digest, piece in asked.pieces.items() if digest not in self._written}
        self._written.update(new)
        self._write({"sha256": asked.digest, "request": asked.request, "new": new, **answered})

    def _write(self, record: JsonObject) -> None:
        if self._file is None:
            return
        # Escaped, every text can be written, also one with half characters.
        line = memoryview(json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n")
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            self.problem = phrase("{path}: the recording ends here: {why}", path=self._path, why=error.strerror)
            os.close(self._file)
            self._file = None


def _open_for_writing(path: str) -> int:
    """A file for its owner only, empty. Raises UsageError."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
        try:
            _make_ready(file, path)
        except BaseException:
            os.close(file)
            raise
    except (OSError, ValueError) as error:
        raise UsageError(phrase("{path}: cannot record into it: {why}", path=path, why=_reason(error))) from None
    return file


def _make_ready(file: int, path: str) -> None:
    """Raises UsageError for what must not be overwritten, and OSError."""
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(phrase("{path}: cannot record into it: it is not a regular file", path=path))
    if status.st_size and not os.pread(file, 64, 0).startswith(f'{{"{_MARK}":'.encode()):
        raise UsageError(
            phrase("{path}: is there and is no recording: remove it first, or record into another file", path=path)
        )
    os.fchmod(file, 0o600)
    os.ftruncate(file, 0)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


@value
class _Recorded:
    """One request of a recording and all that came of it."""

    asked: Comparable
    chunks: tuple[Chunk, ...]
    failure: ModelFailure | None


class Replay:
    """Answers as the model of a recording did, if it is asked the same.

    Requests may come in another order than they did. `header` is what the recording was begun with.
    """

    def __init__(self, path: str, head: Fields, disguise: Disguise) -> None:
        """Raises ValueError if `head` is not the first line of a recording."""
        self.header = cast("JsonObject", disguise.reveal(head.object("header")))
        self._path = path
        self._name = disguise.reveal_text(head.text("model"))
        self._window = head.whole_number("context_window")
        self._abilities = frozenset(Ability(ability) for ability in head.texts("abilities"))
        self._disguise = disguise
        self._comparing = Comparing(disguise.hide)
        self._pieces: dict[str, JsonValue] = {}
        self._left: list[_Recorded] = []
        self._counts: dict[str, int] = {}
        self._asked = 0

    @property
    def name(self) -> str:
        return self._name

    @property
    def context_window(self) -> int:
        return self._window

    @property
    def abilities(self) -> frozenset[Ability]:
        return self._abilities

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """What came when this was recorded, without its waits.

        Raises ModelFailure: the one that was recorded, or one of the kind SCRIPT with the difference where nothing
        was recorded for such a request.
        """
        recorded = self._take(self._comparing.comparable(request))
        for chunk in recorded.chunks:
            await sleep(0)
            yield chunk
        if recorded.failure is not None:
            raise recorded.failure
        if not recorded.chunks or not isinstance(recorded.chunks[-1], Answer):
            raise self._failure(
                phrase(
                    "request {asked} was interrupted when it was recorded, and has no more to give", asked=self._asked
                )
            )

    async def count_tokens(self, request: ModelRequest) -> int:
        """Raises ModelFailure of the kind SCRIPT if this was not counted when it was recorded."""
        count = self._counts.get(self._comparing.comparable(request).digest)
        if count is None:
            raise self._failure(phrase("the tokens of such a request were not counted when this was recorded"))
        return count

    async def close(self) -> None:
        """There is nothing to close."""

    def add(self, line: Fields) -> None:
        """Take up a line of the recording. Raises ValueError."""
        if line.has("count"):
            self._counts[line.text("sha256")] = line.whole_number("count")
            return
        check_pieces(line.object("new"))
        self._pieces |= line.object("new")
        chunks = tuple(chunk_from_json(self._disguise.reveal(chunk)) for chunk in line.items("chunks"))
        failed = self._disguise.reveal(line.object("failure")) if line.has("failure") else None
        failure = None if failed is None else failure_from_json(failed)
        asked = comparable_from_json(line.object("request"), self._pieces, digest=line.text("sha256"))
        self._left.append(_Recorded(asked, chunks, failure))

    def _take(self, asked: Comparable) -> _Recorded:
        """What was recorded for the request, each once. Raises ModelFailure."""
        self._asked += 1
        found = next((recorded for recorded in self._left if recorded.asked.digest == asked.digest), None)
        if found is not None:
            self._left.remove(found)
            return found
        if not self._left:
            raise self._failure(phrase("request {asked} is one more than were recorded", asked=self._asked))
        told = phrase("request {asked} is not what was recorded:", asked=self._asked)
        raise self._failure(joined("\n", (told, difference(self._left[0].asked, asked))))

    def _failure(self, words: str) -> ModelFailure:
        return ModelFailure(joined("", (self._path, ": ", words)), FailureKind.SCRIPT)


def open_replay(path: str, *, stand_ins: Mapping[str, str], secrets: Sequence[str] = ()) -> Replay:
    """The recording at `path`, ready to answer. Raises UsageError for a file that is none.

    `stand_ins` and `secrets` are those of this run. A last line that was not finished does not count.
    """
    lines = _whole_lines(path)
    try:
        head = Fields(_json_of(lines[0] if lines else b""))
        version = head.whole_number(_MARK)
    except ValueError:
        raise UsageError(phrase("{path}: is no recording", path=path)) from None
    if version != _VERSION:
        raise UsageError(
            phrase(
                "{path}: is a recording of version {version}, and only version {known} can be played",
                path=path,
                version=version,
                known=_VERSION,
            )
        )
    number = 1
    try:
        replay = Replay(path, head, Disguise(stand_ins, secrets))
        for number, line in enumerate(lines[1:], 2):  # noqa: B007 -- the number is told where a line is wrong
            replay.add(Fields(_json_of(line)))
    except ValueError as error:
        raise UsageError(
            phrase("{path}: line {number} cannot be played: {why}", path=path, number=number, why=error)
        ) from None
    return replay


def _whole_lines(path: str) -> list[bytes]:
    """Raises UsageError."""
    try:
        with open(path, "rb", opener=without_waiting) as file:
            content = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UsageError(phrase("{path}: the recording cannot be read: {why}", path=path, why=_reason(error))) from None
    if len(content) > _MOST_BYTES:
        raise UsageError(phrase("{path}: is longer than {most} MiB", path=path, most=_MOST_BYTES // 2**20))
    return content.split(b"\n")[:-1]


def _json_of(line: bytes) -> object:
    """Raises ValueError."""
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError(phrase("It is nested too deeply.")) from None
