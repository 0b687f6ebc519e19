"""Sessions in a storage of the program: the same journal as in files, and the same conversation again."""

import json
from collections.abc import Sequence

import pytest

from tejat.core.agent.events import EndReason
from tejat.core.agent.history_events import PromptAdded, ResponseAdded, RunFinished
from tejat.core.agent.storage import MemoryStorage
from tejat.core.errors import UsageError
from tejat.core.messages.history import model_message, user_message
from tejat.core.model import Usage
from tejat.engine.sessions.journal import SessionJournal
from tejat.engine.sessions.storage_sessions import StorageSessions

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
        storage.append(name, ["{}"])
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


def test_damaged_lines_are_skipped_and_reported() -> None:
    storage = MemoryStorage()
    journal = sessions_in(storage).create(session_id="first", model="m")
    talk(journal, "One", "Yes.")
    storage.append("first", ["no JSON", '{"v":1,"kind":"ended","reason":"finished"}'])
    _, loaded = sessions_in(storage).resume(sessions_in(storage).find("first"))
    assert [str(problem) for problem in loaded.problems] == ["Skipped damaged line 5."]
    assert loaded.messages[-1].text == "Yes."


def test_a_storage_that_fails_stops_the_recording_and_is_reported() -> None:
    class Full(MemoryStorage):
        def append(self, session_id: str, lines: Sequence[str]) -> None:
            if self.read(session_id):
                raise RuntimeError("no more room")
            super().append(session_id, lines)

    storage = Full()
    journal = sessions_in(storage).create(session_id="first", model="m")
    talk(journal, "One", "Yes.")
    assert journal.failure == "Stopped saving this session: RuntimeError: no more room."
    assert kinds(storage.read("first")) == ["session", "prompt"]
