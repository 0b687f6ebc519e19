"""Long conversations and many sessions: resuming ten thousand turns, and listing sessions."""

import os
import shutil
import time
from collections.abc import Callable, Iterator

from tests.support.model_servers.gemini import LoopbackServer, Received, Reply

from bench.measurement import Measurement
from bench.support import agents
from tejat.config.paths import app_paths
from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.core.model import Usage
from tejat.engine.sessions.journal_format import RecordKind
from tejat.engine.sessions.session_store import SessionStore

_TURNS = 10_000
_MAX_RESUME_SECONDS = 0.5
_MAX_LIST_MILLISECONDS = 20
_MAX_LIST_GROWTH = 4.8
_ROUNDS = 5
_MODEL = "gemini-2.5-flash"


def measure(scratch: str) -> Iterator[Measurement]:
    root = os.path.join(scratch, "long-sessions")
    os.makedirs(root)
    yield _resume(root)
    yield _first_request(os.path.join(root, "run"))
    yield from _list(root)


def _resume(root: str) -> Measurement:
    store = SessionStore(os.path.join(root, "resumed"), root)
    path = _write_session(store)

    def resume() -> None:
        resumed, loaded = store.resume(store.find("latest"))
        resumed.close()
        assert len(loaded.messages) == 2.2 * _TURNS

    detail = f"{os.path.getsize(path) / 1e6:.1f} MB, processor time from the journal to the messages"
    return Measurement(f"{_TURNS:,} turns resumed", _best(resume), _MAX_RESUME_SECONDS, "s", detail)


def _first_request(root: str) -> Measurement:
    """Time the whole command. The window of the model is half full, so the first request is the one for a summary."""
    os.makedirs(os.path.join(root, "home"))
    path = _write_session(SessionStore(app_paths({"HOME": os.path.join(root, "home")}).sessions, root))
    shutil.copyfile(path, os.path.join(root, "journal"))
    asked: list[tuple[float, int]] = []

    def respond(received: Received) -> Reply:
        asked.append((time.perf_counter(), len(received.raw)))
        return agents.respond(received)

    first = whole = float("inf")
    with LoopbackServer(respond) as server:
        ours = agents.tejat(root, server.address, "-r", "latest")
        for _ in range(_ROUNDS + 1):
            shutil.copyfile(os.path.join(root, "journal"), path)
            asked.clear()
            started = time.perf_counter()
            whole = min(whole, ours.ask().seconds)
            assert len(asked) == 2, f"{len(asked)} requests"
            first = min(first, asked[0][0] - started)
    detail = (
        f"from the start of the program to its complete request for a summary, {asked[0][1] / 1e6:.1f} MB; "
        f"{whole:.2f} s to the exit, with a second request of {asked[1][1] / 1e6:.1f} MB"
    )
    name = f"`tejat -r latest -p hi` after {_TURNS:,} turns, first request"
    return Measurement(name, first, _MAX_RESUME_SECONDS, "s", detail)


def _write_session(store: SessionStore) -> str:
    """Write a session of so many turns and return the path of its journal."""
    journal = store.create(session_id="long", model=_MODEL)
    with journal.sync_once():
        for number in range(_TURNS):
            if number % 10 == 0:
                journal.record_prompt(user_message(f"Do step {number}."), f"Do step {number}.")
            call = FunctionCall("read_file", {"path": f"file-{number}.txt"}, f"call-{number}")
            journal.record_answer(model_message("I read it.", call), Usage(100, 0, 20), _MODEL, 0.5)
            result = FunctionResponse("read_file", {"output": f"line of file {number}\n" * 10}, call.id)
            journal.record_responses([(0, [result])])
            fields = {"index": 0, "name": "read_file", "state": "success", "seconds": 0.01, "id": call.id}
            journal.record_figures(RecordKind.CALL, fields)
            if number % 10 == 9:
                journal.record_answer(model_message(f"Step {number} is done."), Usage(100, 0, 20), _MODEL, 0.5)
    journal.close()
    return journal.path


def _list(root: str) -> Iterator[Measurement]:
    """The time must depend on the number of sessions alone, not on their length."""
    few, many, long = (
        _listing(os.path.join(root, name), count, size)
        for name, count, size in (("few", 200, 1_000), ("many", 800, 1_000), ("long", 200, 1_000_000))
    )
    detail = f"{few * 1000:.1f} ms if they are short"
    yield Measurement("200 sessions of 1 MB in a list", long * 1000, _MAX_LIST_MILLISECONDS, "ms", detail)
    detail = f"{many * 1000:.1f} ms against {few * 1000:.1f} ms"
    yield Measurement("800 sessions in a list over 200", many / few, _MAX_LIST_GROWTH, "x", detail)


def _listing(directory: str, count: int, size: int) -> float:
    store = SessionStore(directory, directory)
    for number in range(count):
        journal = store.create(session_id=f"{number:08}", model=_MODEL)
        with journal.sync_once():
            journal.record_prompt(user_message("Hello"), "Hello")
            journal.record_answer(model_message("x" * size), Usage(), _MODEL)
        journal.close()

    def work() -> None:
        assert len(store.list_sessions()) == count

    return _best(work)


def _best(work: Callable[[], None]) -> float:
    """The least processor time of a few rounds in seconds."""
    times: list[float] = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)
