"""Replay of a recorded run, without a key or a network."""

import json
from asyncio import sleep
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import cast

from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import join_lazy, lazy
from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.model import (
    CONVERSATION,
    MAIN_LANE,
    Capability,
    Chunk,
    FailureKind,
    ModelFailure,
    ModelRequest,
    ModelResponse,
)
from tejat.models.recording.normalized_request import (
    NormalizedRequest,
    RequestNormalizer,
    changed_skill,
    diff_requests,
    normalized_request_from_json,
    verify_pieces,
)
from tejat.models.recording.placeholders import Placeholders
from tejat.models.recording.recorder import FORMAT_KEY, FORMAT_VERSION, os_error_reason
from tejat.models.recording.response_json import chunk_from_json, failure_from_json
from tejat.workspace.files.regular_file import regular_file_opener

_MAX_BYTES = 1 << 30


class _RecordedExchange(Frozen):
    """A recorded request and its outcome."""

    request: NormalizedRequest
    chunks: tuple[Chunk, ...]
    failure: ModelFailure | None


class ReplayModel:
    """Responds as the recorded model did, if it gets the same requests.

    The conversations of sub-agents are lanes of their own, which may be ahead of each other in another way than when
    they were recorded. `header` is that of the recording.
    """

    def __init__(self, path: str, head: JsonFields, disguise: Placeholders) -> None:
        """Raises ValueError if `head` is not the first line of a recording."""
        self.header = cast("JsonObject", disguise.restore(head.object("header")))
        self._path = path
        self.name = disguise.restore_text(head.string("model"))
        self.context_window = head.integer("context_window")
        self.capabilities = frozenset(Capability(ability) for ability in head.strings("abilities"))
        self._placeholders = disguise
        self._normalizer = RequestNormalizer(disguise.substitute)
        self._pieces: dict[str, JsonValue] = {}
        self._remaining: list[_RecordedExchange] = []
        self._counts: dict[str, int] = {}
        self._request_counts = Counter[str]()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Stream the recorded chunks, without their delays.

        Raises ModelFailure: the recorded one, or one of the kind SCRIPT with a diff if there is no such request.
        """
        recorded = self._take(self._normalizer.normalize(request))
        for chunk in recorded.chunks:
            await sleep(0)
            yield chunk
        if recorded.failure is not None:
            raise recorded.failure
        if not recorded.chunks or not isinstance(recorded.chunks[-1], ModelResponse):
            message = lazy(
                "request {asked}{where} was interrupted when it was recorded, so its response is incomplete",
                asked=self._request_counts[request.lane],
                where=_lane_label(request.lane),
            )
            raise self._failure(message)

    async def prepare(self) -> Sequence[str]:
        """Nothing to find out."""
        return ()

    async def count_tokens(self, request: ModelRequest) -> int:
        """Return the recorded count. Raises ModelFailure of the kind SCRIPT if there is none."""
        count = self._counts.get(self._normalizer.normalize(request).digest)
        if count is None:
            raise self._failure(lazy("token counts of such requests are not in this recording"))
        return count

    async def close(self) -> None:
        """Nothing to close."""

    def add_line(self, line: JsonFields) -> None:
        """Add a line of the recording. Raises ValueError."""
        if line.has("count"):
            self._counts[line.string("sha256")] = line.integer("count")
            return
        verify_pieces(line.object("new"))
        self._pieces |= line.object("new")
        chunks = tuple(chunk_from_json(self._placeholders.restore(chunk)) for chunk in line.items("chunks"))
        failed = self._placeholders.restore(line.object("failure")) if line.has("failure") else None
        failure = None if failed is None else failure_from_json(failed)
        request = normalized_request_from_json(line.object("request"), self._pieces, digest=line.string("sha256"))
        self._remaining.append(_RecordedExchange(request, chunks, failure))

    def _take(self, request: NormalizedRequest) -> _RecordedExchange:
        """Take the recorded exchange for a request. Raises ModelFailure.

        The requests of a conversation come in the recorded order. Requests of its tools, which may run side by side,
        and those of other lanes may come at any time.
        """
        lane, where = request.lane, _lane_label(request.lane)
        asked = self._request_counts[lane] = self._request_counts[lane] + 1
        in_lane = [recorded for recorded in self._remaining if recorded.request.lane == lane]
        same = [recorded for recorded in in_lane if recorded.request.purpose == request.purpose]
        candidates = same[:1] if request.purpose == CONVERSATION and lane != MAIN_LANE else same
        exchange = next((recorded for recorded in candidates if recorded.request.digest == request.digest), None)
        if exchange is not None:
            self._remaining.remove(exchange)
            return exchange
        if not in_lane:
            message = lazy(
                "request {asked}{where} is not in the recording: it has no more requests", asked=asked, where=where
            )
            raise self._failure(message)
        recorded = (same or in_lane)[0].request
        if skill := changed_skill(recorded, request):
            message = lazy(
                "request {asked}{where} differs from the recording: the skill {skill!r} has changed since",
                asked=asked,
                where=where,
                skill=skill,
            )
            raise self._failure(message)
        message = lazy("request {asked}{where} differs from the recording:", asked=asked, where=where)
        raise self._failure(join_lazy("\n", (message, diff_requests(recorded, request))))

    def _failure(self, words: str) -> ModelFailure:
        return ModelFailure(join_lazy("", (self._path, ": ", words)), FailureKind.SCRIPT)


def _lane_label(lane: str) -> str:
    """The lane of a request in a sentence, empty for the session's own."""
    return "" if lane == MAIN_LANE else lazy(" of {lane}", lane=lane)


def open_replay(path: str, *, placeholders: Mapping[str, str], secrets: Sequence[str] = ()) -> ReplayModel:
    """Open a recording. Raises UsageError for an invalid file.

    `placeholders` and `secrets` are those of this run. An unfinished last line is ignored.
    """
    lines = _read_lines(path)
    try:
        head = JsonFields(_parse_line(lines[0] if lines else b""))
        version = head.integer(FORMAT_KEY)
    except ValueError:
        raise UsageError(lazy("{path}: not a recording", path=path)) from None
    if version != FORMAT_VERSION:
        message = lazy(
            "{path}: recording version {version} is not supported (supported: {known})",
            path=path,
            version=version,
            known=FORMAT_VERSION,
        )
        raise UsageError(message)
    number = 1
    try:
        replay = ReplayModel(path, head, Placeholders(placeholders, secrets))
        for number, line in enumerate(lines[1:], 2):  # noqa: B007 -- the number is used in the error
            replay.add_line(JsonFields(_parse_line(line)))
    except ValueError as error:
        message = lazy("{path}: line {number} cannot be replayed: {why}", path=path, number=number, why=error)
        raise UsageError(message) from None
    return replay


def _read_lines(path: str) -> list[bytes]:
    """Raises UsageError."""
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            content = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        message = lazy("{path}: could not read the recording: {why}", path=path, why=os_error_reason(error))
        raise UsageError(message) from None
    if len(content) > _MAX_BYTES:
        raise UsageError(lazy("{path}: larger than {most} MiB", path=path, most=_MAX_BYTES // 2**20))
    return content.split(b"\n")[:-1]


def _parse_line(line: bytes) -> object:
    """Raises ValueError."""
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError(lazy("JSON is nested too deeply.")) from None
