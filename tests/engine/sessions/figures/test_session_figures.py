"""Turns and usage of a stored session."""

from pathlib import Path

from support.journals import JournalFile, answer_fields
from tejat.core.model import Usage
from tejat.engine.sessions.figures.session_figures import SessionFigures, read_session_figures


def test_turns_and_requests_with_those_of_agents_and_tools(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path, "s1")
    journal.prompt("go", 1)
    journal.prompt("environment", 1, stays=True)
    journal.answer(2, "one", tokens=(10, 0, 5, 0, 0))
    journal.agent("helper-1", 3, "answer", **answer_fields("two", tokens=(20, 0, 6, 0, 0), model="small"))
    side = {"prompt": 30, "cached": 0, "output": 7, "thoughts": 0, "tool": 0}
    journal.add("run", 4, seconds=3.0, side=[["tiny", 2, side]])
    journal.add("run", 5, seconds=3.0)
    path = journal.write('{"v":1,"kind":"run","at":6,"side":[["tiny"]]}', '{"v":1,"kind":"answer","at":')
    assert read_session_figures(str(path)) == SessionFigures(
        1, (("fast-001", Usage(10, 0, 5)), ("small", Usage(20, 0, 6)), ("tiny", Usage(30, 0, 7)))
    )
