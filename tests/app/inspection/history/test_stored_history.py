"""Looking back from a project: sessions by word, the totals of one project, searches."""

import shutil
from pathlib import Path

import pytest

from support.journals import JournalFile
from support.program import ProgramEnv, text_script
from tejat.app.inspection.history.stored_history import StoredHistory
from tejat.app.run_config import load_run_config
from tejat.core.errors import UsageError

JOURNALS = Path(__file__).parents[3] / "engine" / "sessions" / "journals"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProgramEnv:
    machine = ProgramEnv(tmp_path)
    monkeypatch.setenv("HOME", str(machine.home))
    return machine


def open_history(machine: ProgramEnv) -> StoredHistory:
    return StoredHistory(load_run_config([str(machine.project)], faults=[]))


def state(machine: ProgramEnv) -> Path:
    return machine.home / ".local" / "state" / "tejat"


def test_this_project_and_all_projects(machine: ProgramEnv) -> None:
    machine.run("-p", "hello zebra", "-m", machine.script(text_script("Hello.")))
    other = JournalFile(state(machine), "other-1", root="/elsewhere")
    other.prompt("a zebra there", 1)
    other.write()
    history = open_history(machine)
    assert len(list(history.search("zebra"))) == 2
    assert len(list(history.search("zebra", every_project=False))) == 1
    assert history.overview().total.sessions == 2
    assert history.overview(root="/elsewhere").total.sessions == 1
    assert history.overview(days=1).total.sessions == 1
    assert history.session("latest").title == "hello zebra"
    assert history.session("other-1").runs[0].prompt == "a zebra there"
    with pytest.raises(UsageError, match="No session"):
        history.session("nosuch")
    with pytest.raises(UsageError, match="Nothing to search for"):
        history.search(" ")


@pytest.mark.parametrize("name", ["v1-whole", "v1-compressed", "v1-interrupted"])
def test_journals_of_earlier_versions(machine: ProgramEnv, name: str) -> None:
    directory = state(machine) / "sessions" / "0123456789abcdef"
    directory.mkdir(parents=True)
    shutil.copy(JOURNALS / f"{name}.jsonl", directory)
    overview = open_history(machine).overview()
    assert overview.total.sessions == 1
    assert overview.total.runs >= 1
    assert all(tool.seconds is None for tool in overview.total.tools)


def test_a_journal_without_its_beginning_still_has_a_name(machine: ProgramEnv) -> None:
    journal = JournalFile(state(machine), "headless")
    journal.prompt("go", 1)
    del journal.records[0]
    journal.write()
    history = open_history(machine).session("headless")
    assert (history.session_id, len(history.runs)) == ("headless", 1)
    assert "The start of the session is missing." in history.notes
