"""Sessions in a storage of the program: the same journal as in files, and the same conversation again."""

import gc
import json
import threading
from asyncio import new_event_loop, wrap_future
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import pytest

from tejat.core.agent.events import EndReason
from tejat.core.agent.history_events import PromptAdded, ResponseAdded, RunFinished
from tejat.core.agent.storage import SessionConflict, SessionStorage
from tejat.core.errors import UsageError
from tejat.core.messages.history import model_message, user_message
from tejat.core.model import Usage
from tejat.engine.sessions.journal import SessionJournal
from tejat.engine.sessions.storage_sessions import MemoryStorage, StorageSessions

SECRET = "correct-horse-battery"


def sessions_in(storage: MemoryStorage) -> StorageSessions:
    return StorageSessions(storage, "/project", secrets=[SECRET], now=lambda: 1000.0)


def talk(journal: SessionJournal, prompt: str, answer: str) -> None:
    journal.record(PromptAdded(user_message(prompt), prompt))
    journal.record(ResponseAdded(model_message(answer), Usage(prompt=1), "m", None))
    journal.record(RunFinished(EndReason.FINISHED))


def kinds(lines: Sequence[str]) -> list[str]:
    return [json.loads(line)["kind"] for line in lines]


def test_a_session_is_stored_with_its_first_prompt_and_continued() -> None:
    storage = MemoryStorage()
    sessions = sessions_in(storage)
    journal = sessions.create(session_id="first", model="m")
    journal.record_preamble([user_message("Opening"), model_message("Yes.")])
    assert storage.session_ids() == ()
    talk(journal, "One\nline", f"My {SECRET}.")
    assert kinds(storage.read("first")) == ["session", "opening", "prompt", "answer", "ended"]
    assert SECRET not in "".join(storage.read("first"))
    assert all("\n" not in line for line in storage.read("first"))
    journal.close()
    journal.record(PromptAdded(user_message("late"), "late"))
    assert len(storage.read("first")) == 5

    again, loaded = sessions.resume(sessions.find("latest"))
    assert (loaded.session_id, loaded.preamble_length, loaded.problems, loaded.repairs) == ("first", 2, (), ())
    assert loaded.messages[2].text == "One\nline"
    talk(again, "Two", "Yes.")
    assert kinds(storage.read("first"))[5:] == ["resumed", "prompt", "answer", "ended"]
    assert again.path == ""
    sessions.prune()
    assert storage.session_ids() == ("first",)


def test_sessions_are_found_by_number_id_and_beginning() -> None:
    storage = MemoryStorage()
    for name in ("abc-1", "abd-2", "2"):
        storage.append(name, ["{}"], 0)
    sessions = sessions_in(storage)
    found = {word: sessions.find(word).session_id for word in ("latest", "1", "abd-2", "abc", "3")}
    assert found == {"latest": "2", "1": "abc-1", "abd-2": "abd-2", "abc": "abc-1", "3": "2"}
    assert sessions.find("2").session_id == "2"
    with pytest.raises(UsageError, match="ab matches more than one session: abc-1, abd-2"):
        sessions.find("ab")
    with pytest.raises(UsageError, match=r"No session 'x' in the storage\. Sessions: abc-1, abd-2, 2"):
        sessions.find("x")
    with pytest.raises(UsageError, match="There are no sessions in the storage"):
        sessions_in(MemoryStorage()).find("latest")


def test_a_storage_that_returns_something_else_is_named() -> None:
    class Odd(MemoryStorage):
        def session_ids(self) -> list[str]:
            return "abc"  # pyright: ignore[reportReturnType]

        def read(self, session_id: str) -> list[str]:
            return [b"{}"]  # pyright: ignore[reportReturnType]

    with pytest.raises(TypeError, match=r"^storage: `session_ids` must return a list of strings, not 'abc'\.$"):
        sessions_in(Odd()).find("latest")
    known = MemoryStorage()
    known.append("a", ["{}"], 0)
    entry = sessions_in(known).find("a")
    with pytest.raises(TypeError, match=r"^storage: `read` must return a list of strings, not \[b'\{\}'\]\.$"):
        sessions_in(Odd()).resume(entry)


def test_damaged_lines_are_skipped_and_reported() -> None:
    storage = MemoryStorage()
    journal = sessions_in(storage).create(session_id="first", model="m")
    talk(journal, "One", "Yes.")
    journal.close()
    storage.append("first", ["no JSON", '{"v":1,"kind":"ended","reason":"finished"}'], len(storage.read("first")))
    _, loaded = sessions_in(storage).resume(sessions_in(storage).find("first"))
    assert [str(problem) for problem in loaded.problems] == ["Skipped damaged line 5."]
    assert loaded.messages[-1].text == "Yes."


def test_a_storage_that_fails_stops_the_recording_and_is_reported() -> None:
    class Full(MemoryStorage):
        def append(self, session_id: str, lines: Sequence[str], position: int) -> None:
            if self.read(session_id):
                raise RuntimeError("no more room")
            super().append(session_id, lines, position)

    storage = Full()
    journal = sessions_in(storage).create(session_id="first", model="m")
    talk(journal, "One", "Yes.")
    assert journal.failure == "Stopped saving this session: RuntimeError: no more room."
    assert kinds(storage.read("first")) == ["session", "prompt"]


def test_a_storage_that_is_asynchronous_unnoticed_stops_the_recording() -> None:
    class Later(MemoryStorage):
        def append(self, session_id: str, lines: Sequence[str], position: int) -> Any:
            waiting: Future[None] = Future()
            return wrap_future(waiting, loop=loop)

    loop = new_event_loop()
    journal = sessions_in(Later()).create(session_id="first", model="m")
    talk(journal, "One", "Yes.")
    loop.close()
    assert journal.failure == "Stopped saving this session: `append` of the storage is asynchronous."


def test_it_knows_which_ids_it_has() -> None:
    storage = MemoryStorage()
    storage.append("ours", ["{}"], 0)
    assert sessions_in(storage).has("ours")
    assert not sessions_in(storage).has("our")


class TestTwoAgents:
    def test_in_one_program_the_second_is_refused(self) -> None:
        storage = MemoryStorage()
        first = sessions_in(storage).create(session_id="first", model="m")
        talk(first, "One", "Yes.")
        entry = sessions_in(storage).find("first")
        with pytest.raises(UsageError, match="Session first is open in another agent of this program"):
            sessions_in(storage).resume(entry)
        with pytest.raises(UsageError, match="Session first is open"):
            sessions_in(storage).create(session_id="first", model="m")
        first.close()
        again, _ = sessions_in(storage).resume(entry)
        first.close()
        with pytest.raises(UsageError, match="Session first is open"):
            sessions_in(storage).resume(entry)
        again.close()

    def test_a_journal_that_was_forgotten_locks_nothing(self) -> None:
        storage = MemoryStorage()
        talk(sessions_in(storage).create(session_id="first", model="m"), "One", "Yes.")
        gc.collect()
        sessions_in(storage).resume(sessions_in(storage).find("first"))[0].close()

    def test_other_storages_and_sessions_are_free(self) -> None:
        one, other = MemoryStorage(), MemoryStorage()
        for journal in [
            sessions_in(one).create(session_id="first", model="m"),
            sessions_in(other).create(session_id="first", model="m"),
            sessions_in(one).create(session_id="second", model="m"),
        ]:
            talk(journal, "One", "Yes.")
            assert journal.failure is None
            journal.close()

    def test_what_another_program_wrote_is_not_mixed_with_ours(self) -> None:
        storage = MemoryStorage()
        journal = sessions_in(storage).create(session_id="first", model="m")
        talk(journal, "One", "Yes.")
        storage.append("first", ["theirs"], len(storage.read("first")))
        before = storage.read("first")
        talk(journal, "Two", "Yes.")
        assert journal.failure == "Stopped saving this session: another agent has written to it."
        assert storage.read("first") == before

    def test_a_session_that_cannot_be_read_stays_free(self) -> None:
        class Broken(MemoryStorage):
            is_broken = True

            def read(self, session_id: str) -> Sequence[str]:
                if self.is_broken:
                    raise RuntimeError("no connection")
                return super().read(session_id)

        storage = Broken()
        storage.append("first", ["{}"], 0)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="no connection"):
                sessions_in(storage).resume(sessions_in(storage).find("first"))
        storage.is_broken = False
        sessions_in(storage).resume(sessions_in(storage).find("first"))[0].close()


def test_lines_are_kept_in_order_and_sessions_by_their_last_use() -> None:
    storage = MemoryStorage()
    assert isinstance(storage, SessionStorage)
    assert (storage.session_ids(), storage.read("a")) == ((), ())
    storage.append("a", ["1", "2"], 0)
    storage.append("b", ["3"], 0)
    assert storage.session_ids() == ("a", "b")
    storage.append("a", ["4"], 2)
    assert storage.session_ids() == ("b", "a")
    assert (storage.read("a"), storage.read("b")) == (("1", "2", "4"), ("3",))


@pytest.mark.parametrize("position", [0, 1, 3])
def test_lines_at_another_position_are_refused(position: int) -> None:
    storage = MemoryStorage()
    storage.append("a", ["1", "2"], 0)
    with pytest.raises(SessionConflict):
        storage.append("a", ["3"], position)
    assert storage.read("a") == ("1", "2")


def test_of_several_threads_one_is_first() -> None:
    storage = MemoryStorage()
    refused: list[str] = []

    def write(name: str) -> None:
        for position in range(200):
            try:
                storage.append("a", [name], position)
            except SessionConflict:
                refused.append(name)
                return

    threads = [threading.Thread(target=write, args=(name,)) for name in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 2
    assert len(set(storage.read("a"))) == 1


def test_the_storage_in_memory_shows_its_size() -> None:
    storage = MemoryStorage()
    storage.append("a", ["{}"], 0)
    assert repr(storage) == "<MemoryStorage, 1 sessions>"
