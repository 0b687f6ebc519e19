"""Recording of the model side of a run in a file."""

import json
import os
import stat
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing

from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.model import Chunk, ModelClient, ModelFailure, ModelRequest, TextDelta, ThoughtDelta
from tejat.models.recording.normalized_request import NormalizedRequest, RequestNormalizer
from tejat.models.recording.placeholders import Placeholders
from tejat.models.recording.response_json import chunk_to_json, failure_to_json
from tejat.models.wrapper import ModelWrapper

FORMAT_KEY = "tejat_recording"
FORMAT_VERSION = 1


class RecordingModel(ModelWrapper):
    """A model whose requests and responses are written to a file, one line per request when it has ended.

    `placeholders` maps texts that differ between machines, like the root directory, to words like `${root}` that are
    written instead. `secrets`, and tokens of well-known shapes, are never written. `header` is returned by the replay.
    If the file cannot be written later, `problem` says why, and the run goes on without a recording.
    """

    def __init__(
        self,
        inner: ModelClient,
        path: str,
        *,
        placeholders: Mapping[str, str],
        secrets: Sequence[str],
        header: JsonObject,
    ) -> None:
        """Raises UsageError if the file cannot be written, or exists and is not a recording."""
        super().__init__(inner)
        self.problem: str | None = None
        self._path = path
        self._placeholders = Placeholders(placeholders, secrets)
        self._normalizer = RequestNormalizer(self._placeholders.substitute)
        self._written_pieces: set[str] = set()
        self._header: JsonObject | None = header
        self._file: int | None = _create_recording(path)

    async def prepare(self) -> Sequence[str]:
        notices = await self._inner.prepare()
        self._write_header()
        return notices

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        # Normalized before the response comes: the list of messages grows.
        normalized = self._normalizer.normalize(request)
        received: list[Chunk] = []
        failed: JsonObject = {}
        try:
            async with aclosing(self._inner.stream(request)) as chunks:
                async for chunk in chunks:
                    received.append(chunk)
                    yield chunk
        except ModelFailure as failure:
            failed = {"failure": self._placeholders.substitute(failure_to_json(failure))}
            raise
        finally:
            self._write_request(normalized, {"chunks": self._encode_chunks(received), **failed})

    async def count_tokens(self, request: ModelRequest) -> int:
        normalized = self._normalizer.normalize(request)
        count = await self._inner.count_tokens(request)
        self._write({"sha256": normalized.digest, "count": count})
        return count

    async def close(self) -> None:
        self._write_header()
        if self._file is not None:
            os.close(self._file)
            self._file = None
        await self._inner.close()

    def _encode_chunks(self, chunks: Sequence[Chunk]) -> list[JsonValue]:
        """Encode chunks as JSON. All text deltas are one text to the placeholders, which may be cut anywhere."""
        substitute = self._placeholders.substitute_pieces
        texts = iter(substitute([chunk.text for chunk in chunks if isinstance(chunk, TextDelta)]))
        thoughts = iter(substitute([chunk.text for chunk in chunks if isinstance(chunk, ThoughtDelta)]))
        written: list[JsonValue] = []
        for chunk in chunks:
            match chunk:
                case TextDelta():
                    written.append(chunk_to_json(TextDelta(next(texts))))
                case ThoughtDelta():
                    written.append(chunk_to_json(ThoughtDelta(next(thoughts))))
                case _:
                    written.append(self._placeholders.substitute(chunk_to_json(chunk)))
        return written

    def _write_request(self, request: NormalizedRequest, outcome: JsonObject) -> None:
        new = {digest: piece for digest, piece in request.pieces.items() if digest not in self._written_pieces}
        self._written_pieces.update(new)
        self._write({"sha256": request.digest, "request": request.request, "new": new, **outcome})

    def _write_header(self) -> None:
        """Write the first line, once. It holds the context window, which is known only after `prepare`."""
        if self._header is None:
            return
        header, self._header = self._header, None
        self._write(
            {
                FORMAT_KEY: FORMAT_VERSION,
                "model": self._placeholders.substitute(self._inner.name),
                "context_window": self._inner.context_window,
                "abilities": sorted(self._inner.capabilities),
                "header": self._placeholders.substitute(header),
            }
        )

    def _write(self, record: JsonObject) -> None:
        self._write_header()
        if self._file is None:
            return
        # ASCII, so that lone surrogates can be written too.
        line = memoryview(json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n")
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            self.problem = lazy("{path}: recording stopped: {why}", path=self._path, why=error.strerror)
            os.close(self._file)
            self._file = None


def _create_recording(path: str) -> int:
    """Create an empty private file and return its descriptor. Raises UsageError."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
        try:
            _prepare_file(file, path)
        except BaseException:
            os.close(file)
            raise
    except (OSError, ValueError) as error:
        raise UsageError(
            lazy("{path}: could not write the recording: {why}", path=path, why=os_error_reason(error))
        ) from None
    return file


def _prepare_file(file: int, path: str) -> None:
    """Make the file empty and private. Raises UsageError for a file that must not be overwritten, and OSError."""
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(lazy("{path}: could not write the recording: not a regular file", path=path))
    if status.st_size and not os.pread(file, 64, 0).startswith(f'{{"{FORMAT_KEY}":'.encode()):
        message = lazy("{path} exists and is not a recording. Remove it, or record to another file.", path=path)
        raise UsageError(message)
    os.fchmod(file, 0o600)
    os.ftruncate(file, 0)


def os_error_reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
