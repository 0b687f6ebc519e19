"""Long conversations and many sessions: resuming ten thousand turns, and listing sessions."""

import os
import time
from collections.abc import Callable, Iterator

from bench.measurement import Measurement
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
    yield from _list(root)


def _resume(root: str) -> Measurement:
    store = SessionStore(os.path.join(root, "resumed"), root)
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

    def resume() -> None:
        resumed, loaded = store.resume(store.find("latest"))
        resumed.close()
        assert len(loaded.messages) == 2.2 * _TURNS

    detail = f"{os.path.getsize(journal.path) / 1e6:.1f} MB, processor time from the journal to the messages"
    return Measurement(f"{_TURNS:,} turns resumed", _best(resume), _MAX_RESUME_SECONDS, "s", detail)


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
