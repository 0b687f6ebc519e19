"""The changes of one run of a sub-agent are one entry, which is undone as a whole or not at all."""

import asyncio
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from tejat.core.agent.subagents import AgentRunId
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.base import ToolResult
from tejat.core.undo import ChangeKind, RestoreScope, UndoEntry
from tejat.engine.calls.undo_recorder import UndoRecorder

DONE = ToolResult("done")


class Project:
    """A root and its undo log. `agent` is the run that makes the next calls, empty for the session itself."""

    def __init__(self, base: Path) -> None:
        self.root = base / "project"
        self.root.mkdir()
        self.agent = ""
        self.log = UndoRecorder(
            str(base / "state"),
            [str(self.root)],
            session=lambda: "session",
            agent=self.current_agent,
        )

    def current_agent(self) -> AgentRunId:
        return AgentRunId(self.agent, "parent") if self.agent else AgentRunId()

    def write(self, name: str, text: str) -> None:
        path = self.root / name

        async def run() -> ToolResult:
            path.write_text(text)
            return DONE

        call = FunctionCall("write_file", {"file_path": str(path)})
        assert asyncio.run(self.log.record(call, Kind.EDIT, [str(path)], run, whole_tree=False)) == DONE

    def shell(self, command: str) -> None:
        async def run() -> ToolResult:
            await asyncio.to_thread(subprocess.run, ["bash", "-c", command], cwd=self.root, check=True)
            return DONE

        call = FunctionCall("run_shell_command", {"command": command})
        assert asyncio.run(self.log.record(call, Kind.EXECUTE, [], run, whole_tree=True)) == DONE

    def files(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.root.iterdir()}

    def unit(self) -> UndoEntry:
        return next(entry for entry in self.log.entries() if entry.parts)


@pytest.fixture
def project(tmp_path: Path) -> Generator[Project]:
    made = Project(tmp_path)
    yield made
    made.log.close()


def run_agent(project: Project, *, name: str = "generalist#1") -> None:
    """Write three files, one of them twice, and make a fourth with a command."""
    project.agent = name
    project.write("a", "1")
    project.write("b", "2")
    project.write("kept", "changed")
    project.write("a", "3")
    project.shell("echo 4 > d")
    project.agent = ""


@pytest.fixture
def worked(project: Project) -> Project:
    (project.root / "kept").write_text("old")
    project.write("own", "of the session")
    run_agent(project)
    return project


def test_a_run_is_one_entry_among_the_others(worked: Project) -> None:
    unit, own = worked.log.entries()
    assert (unit.tool, unit.summary, unit.unit) == ("invoke_agent", "generalist#1", "generalist#1")
    assert [Path(change.path).name for change in unit.changes] == ["a", "b", "d", "kept"]
    assert [change.kind for change in unit.changes] == [ChangeKind.CREATED] * 3 + [ChangeKind.CHANGED]
    assert len(unit.parts) == 5
    assert unit.call == "parent"
    assert own.parts == ()


def test_all_of_it_goes_at_once(worked: Project) -> None:
    result = worked.log.restore(worked.unit().id)
    assert result.is_complete
    assert len(result.restored) == 4
    assert worked.files() == {"kept": "old", "own": "of the session"}
    assert worked.unit().undone_by == result.entry_id


def test_the_undo_can_be_undone(worked: Project) -> None:
    before = worked.files()
    undone = worked.log.restore(worked.unit().id)
    assert undone.entry_id is not None
    worked.log.restore(undone.entry_id)
    assert worked.files() == before
    assert worked.unit().undone_by is None
    assert worked.log.restore(worked.unit().id).is_complete


def test_one_file_that_changed_since_keeps_all_of_it(worked: Project) -> None:
    (worked.root / "b").write_text("by hand")
    before = worked.files()
    result = worked.log.restore(worked.unit().id)
    assert [Path(remark.path).name for remark in result.refused] == ["b"]
    assert worked.files() == before


def test_a_part_by_path(worked: Project) -> None:
    unit = worked.unit()
    result = worked.log.restore(unit.id, RestoreScope(paths=(str(worked.root / "a"),)))
    assert result.restored == (str(worked.root / "a"),)
    assert "a" not in worked.files()
    assert worked.unit().undone_by is None


def test_a_single_call_of_it(worked: Project) -> None:
    command = next(part for part in worked.unit().parts if part.tool == "run_shell_command")
    assert worked.log.restore(command.id).is_complete
    assert "d" not in worked.files()
    assert [Path(change.path).name for change in worked.unit().changes] == ["a", "b", "kept"]
    assert worked.log.restore(worked.unit().id).is_complete
    assert worked.files() == {"kept": "old", "own": "of the session"}


def test_what_the_run_does_after_an_undo_is_not_undone(worked: Project) -> None:
    worked.log.restore(worked.unit().id)
    worked.agent = "generalist#1"
    worked.write("late", "5")
    assert worked.unit().undone_by is None
    assert [change.path for change in worked.unit().changes] == ["late"]


def test_two_runs_are_two_entries(worked: Project) -> None:
    run_agent(worked, name="generalist#2")
    units = [entry for entry in worked.log.entries() if entry.parts]
    assert [unit.summary for unit in units] == ["generalist#2", "generalist#1"]
    assert len({unit.id for unit in units}) == 2


def test_a_later_call_that_changed_a_file_is_named(worked: Project) -> None:
    worked.write("b", "again")
    later = worked.log.entries()[0]
    (remark,) = worked.log.restore(worked.unit().id).refused
    assert later.id in remark.reason


def test_what_it_removed_again_is_no_change(project: Project) -> None:
    project.agent = "x#1"
    project.write("a", "1")
    project.shell("rm a")
    assert project.unit().changes == ()


def test_the_log_survives_on_disk(worked: Project, tmp_path: Path) -> None:
    again = UndoRecorder(str(tmp_path / "state"), [str(worked.root)])
    try:
        assert again.entries() == worked.log.entries()
    finally:
        again.close()


def test_json_has_the_calls(worked: Project) -> None:
    shown = worked.unit().to_json()
    assert shown["agent"] == "generalist#1"
    assert isinstance(shown["calls"], list)
    assert len(shown["calls"]) == 5
