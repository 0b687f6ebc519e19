"""Looking at what there is: sessions of a project. What else is looked at is proved with the tools in test_tools.py."""

from pathlib import Path

import pytest

from support.program import ProgramEnv, text_script
from tejat.app.inspection import open_sessions


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProgramEnv:
    machine = ProgramEnv(tmp_path)
    monkeypatch.setenv("HOME", str(machine.home))
    return machine


def test_sessions_of_a_project_and_of_no_other(machine: ProgramEnv) -> None:
    session_id = machine.run("-p", "hi there", "-m", machine.script(text_script("Hello.")), "-o", "json").json[
        "session_id"
    ]
    (found,) = open_sessions(str(machine.project)).list_sessions()
    assert (found.session_id, found.title, found.number) == (session_id, "hi there", 1)
    assert open_sessions(str(machine.base)).list_sessions() == []
    assert open_sessions(str(machine.project)).load(found).session_id == session_id
