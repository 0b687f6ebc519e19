"""Turns and token usage of a stored session, without its conversation."""

from collections.abc import Iterator

from tejat.core.frozen import Frozen
from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.message_json import usage_from_json
from tejat.core.model import Usage
from tejat.engine.sessions.agent_records import AGENT_BEGINNING, agent_usage
from tejat.engine.sessions.journal_format import MAX_LINE_BYTES, RecordKind, decode_record
from tejat.workspace.files.regular_file import regular_file_opener


class SessionFigures(Frozen):
    """The number of prompts, and the usage of each request with the model that answered it.

    `end` is why the last run ended, empty if that is not recorded: it goes on, or was broken off.
    """

    turns: int = 0
    requests: tuple[tuple[str, Usage], ...] = ()
    end: str = ""


def read_session_figures(path: str) -> SessionFigures:
    """Read the figures of a journal; damaged lines are skipped. Raises OSError."""
    turns, requests, end = 0, list[tuple[str, Usage]](), ""
    for line in _relevant_lines(path):
        if line.startswith(AGENT_BEGINNING):
            requests += filter(None, [agent_usage(line)])
            continue
        try:
            record = decode_record(line)
            kind = record.string("kind")
            if kind == RecordKind.PROMPT:
                # A part of the environment that is added to the conversation is not a prompt of the user.
                turns += bool(record.string_or_none("shown")) and not record.has("stays")
                end = ""
            elif kind == RecordKind.ENDED:
                end = record.string("reason")
            elif kind == RecordKind.RUN:
                requests += [(model, usage) for model, _count, usage in side_requests(record)]
            else:
                requests.append((record.string("model"), usage_from_json(record.object("usage"))))
        except ValueError:
            continue
    return SessionFigures(turns, tuple(requests), end)


def side_requests(record: JsonFields) -> list[tuple[str, int, Usage]]:
    """The requests of tools and the engine in the record of a run: models, counts and usages. Raises ValueError."""
    found: list[tuple[str, int, Usage]] = []
    for side in record.items("side") if record.has("side") else ():
        match side:
            case [str() as model, int() as count, usage]:
                found.append((model, count, usage_from_json(usage)))
            case _:
                raise ValueError("A sum of requests has another form.")
    return found


def _relevant_lines(path: str) -> Iterator[bytes]:
    """The lines with prompts and answers, found by their beginning: results of calls can be very long."""
    with open(path, "rb", opener=regular_file_opener) as file:
        for line in iter(lambda: file.readline(MAX_LINE_BYTES), b""):
            if line.startswith(_BEGINNINGS):
                yield line


_BEGINNINGS = (
    AGENT_BEGINNING,
    *(
        f'{{"v":1,"kind":"{kind}",'.encode()
        for kind in (RecordKind.PROMPT, RecordKind.ANSWER, RecordKind.ENDED, RecordKind.RUN)
    ),
)
