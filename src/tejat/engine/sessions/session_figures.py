"""Turns and token usage of a stored session, without its conversation."""

from collections.abc import Iterator

from tejat.core.frozen import frozen
from tejat.core.messages.message_json import usage_from_json
from tejat.core.model import Usage
from tejat.engine.sessions.agent_records import AGENT_BEGINNING, agent_usage
from tejat.engine.sessions.journal_format import MAX_LINE_BYTES, RecordKind, decode_record
from tejat.workspace.files.regular_file import regular_file_opener


@frozen
class SessionFigures:
    """The number of prompts, and the usage of each request with the model that answered it."""

    turns: int = 0
    requests: tuple[tuple[str, Usage], ...] = ()


def read_session_figures(path: str) -> SessionFigures:
    """Read the figures of a journal; damaged lines are skipped. Raises OSError."""
    turns, requests = 0, list[tuple[str, Usage]]()
    for line in _relevant_lines(path):
        if line.startswith(AGENT_BEGINNING):
            requests += filter(None, [agent_usage(line)])
            continue
        try:
            record = decode_record(line)
            if record.string("kind") == RecordKind.PROMPT:
                # A part of the environment that is added to the conversation is not a prompt of the user.
                turns += bool(record.string_or_none("shown")) and not record.has("stays")
            else:
                requests.append((record.string("model"), usage_from_json(record.object("usage"))))
        except ValueError:
            continue
    return SessionFigures(turns, tuple(requests))


def _relevant_lines(path: str) -> Iterator[bytes]:
    """The lines with prompts and answers, found by their beginning: results of calls can be very long."""
    with open(path, "rb", opener=regular_file_opener) as file:
        for line in iter(lambda: file.readline(MAX_LINE_BYTES), b""):
            if line.startswith(_BEGINNINGS):
                yield line


_BEGINNINGS = (
    AGENT_BEGINNING,
    *(f'{{"v":1,"kind":"{kind}",'.encode() for kind in (RecordKind.PROMPT, RecordKind.ANSWER)),
)
