"""The sessions of this user that run now, found by their sockets."""

import asyncio
import os

from tejat.core.agent.questions import PendingQuestion
from tejat.core.errors import UsageError
from tejat.core.frozen import Frozen
from tejat.core.i18n import _
from tejat.core.messages.types import JsonObject
from tejat.core.sanitize import sanitize_text
from tejat.core.text.str_enum import StrEnum
from tejat.ui.jsonrpc.peer import RequestError
from tejat.ui.remote.client import read_info
from tejat.ui.remote.params import read_items, read_param
from tejat.ui.remote.socket_name import SOCKET_SUFFIX


class LiveState(StrEnum):
    """What a running session does."""

    WORKING = "working"
    WAITING = "waiting"
    IDLE = "idle"


class LiveSession(Frozen):
    """A session that runs now. `path` is its socket, `kind` what keeps it open: terminal, headless or detached.

    `started` and `waiting_since` are in seconds since 1970, `cost` in dollars, None if unknown. `front_ends` are those
    in other processes.
    """

    path: str
    session_id: str
    pid: int
    kind: str
    state: LiveState
    waiting_since: float | None
    questions: tuple[PendingQuestion, ...]
    title: str
    folder: str
    model: str
    mode: str
    tokens: int
    cost: float | None
    started: float
    front_ends: int


async def list_live_sessions(directory: str) -> list[LiveSession]:
    """List the sessions whose sockets are in the directory, oldest first. Those that do not answer are left out."""
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    paths = [os.path.join(directory, name) for name in sorted(names) if name.endswith(SOCKET_SUFFIX)]
    answers = await asyncio.gather(*map(read_info, paths))
    found = [_read_session(path, info) for path, info in zip(paths, answers, strict=True) if info is not None]
    return sorted((each for each in found if each is not None), key=lambda each: each.started)


async def find_live_session(directory: str, word: str) -> LiveSession:
    """Return the running session whose id is or begins with the word. Raises UsageError."""
    sessions = await list_live_sessions(directory)
    exact = [each for each in sessions if each.session_id == word]
    found = exact or [each for each in sessions if word and each.session_id.startswith(word)]
    if len(found) == 1:
        return found[0]
    shown = sanitize_text(word)
    if found:
        names = ", ".join(sanitize_text(each.session_id) for each in found)
        raise UsageError(_("{word} matches more than one session: {matches}.", word=shown, matches=names))
    raise UsageError(
        _("No running session {word}. `tejat sessions` lists them, `tejat -r {word}` resumes one.", word=shown)
    )


def _read_session(path: str, info: JsonObject) -> LiveSession | None:
    """None for a session of another version that says less, or something else."""
    cost, since = info.get("cost"), info.get("waiting_since")
    try:
        return LiveSession(
            path=path,
            session_id=read_param(info, "session_id", str),
            pid=read_param(info, "pid", int),
            kind=read_param(info, "kind", str),
            state=LiveState(read_param(info, "state", str)),
            waiting_since=float(since) if isinstance(since, int | float) else None,
            questions=read_items(info, "questions", PendingQuestion),
            title=read_param(info, "title", str),
            folder=read_param(info, "folder", str),
            model=read_param(info, "model", str),
            mode=read_param(info, "mode", str),
            tokens=read_param(info, "tokens", int),
            cost=float(cost) if isinstance(cost, int | float) else None,
            started=float(read_param(info, "started", (int, float))),
            front_ends=read_param(info, "front_ends", int),
        )
    except (RequestError, ValueError):
        return None
