"""Looking at what there is: sessions of a project. What else is looked at is proved with the tools in test_tools.py."""

from pathlib import Path

import pytest

from program_checks import Machine, said
from tejat.app.looking import open_sessions


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path)
    monkeypatch.setenv("HOME", str(machine.home))
    return machine


def test_sessions_of_a_project_and_of_no_other(machine: Machine) -> None:
    session_id = machine.run("-p", "hi there", "-m", machine.script(said("Hello.")), "-o", "json").json["session_id"]
    (found,) = open_sessions(str(machine.project)).found()
    assert (found.session_id, found.title, found.number) == (session_id, "hi there", 1)
    assert open_sessions(str(machine.base)).found() == []
    assert open_sessions(str(machine.project)).load(found).session_id == session_id
