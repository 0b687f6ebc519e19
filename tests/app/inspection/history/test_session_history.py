"""Figures and timelines of one session."""

from pathlib import Path

import pytest

from support.journals import START, JournalFile, answer_fields
from support.program import ProgramEnv, script_answer, text_script
from tejat.app.inspection.history.journal_scan import scan_journal
from tejat.app.inspection.history.request_prices import RequestPrices
from tejat.app.inspection.history.session_history import build_history
from tejat.app.inspection.history.stored_history import StoredHistory
from tejat.app.run_config import load_run_config
from tejat.core.agent.history.figures import ApprovalCounts, ChangedFile, ModelUse, SessionHistory, ToolUse
from tejat.core.agent.history.timeline import SpanKind
from tejat.core.model import Usage

READ = ("read_file", {"file_path": "a"})
EDIT = ("replace", {"file_path": "a"})


@pytest.fixture
def prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RequestPrices:
    monkeypatch.setenv("HOME", str(tmp_path))
    return RequestPrices(load_run_config([str(tmp_path)], faults=[]))


def read(journal: JournalFile, prices: RequestPrices) -> SessionHistory:
    return build_history(scan_journal(str(journal.write())), prices)


def recorded(tmp_path: Path) -> JournalFile:
    """A run with parallel reads, an edit that the user approves after 20 seconds, and a sub-agent."""
    journal = JournalFile(tmp_path, "s1")
    journal.prompt("fix it", 1)
    journal.answer(5, "I read.", READ, READ, seconds=4.0)
    for index in (0, 1):
        journal.response(7 + index, "read_file", index, output="x")
        journal.add("call", 7 + index, index=index, name="read_file", state="success", seconds=2.0, decision="rule")
    journal.answer(10, "I edit.", EDIT, ("invoke_agent", {}), seconds=2.0)
    waits = [[START + 10, 20.0, "edit", "proceed_always"]]
    changed = {"file": "/project/a.py", "lines": [3, 1]}
    journal.add(
        "call", 31, index=0, name="replace", state="success", seconds=1.0, decision="always", waits=waits, **changed
    )
    journal.agent("helper-1", 32, "started", name="helper", call="c", prompt="help", model="fast")
    journal.agent("helper-1", 36, "answer", **answer_fields("", READ, seconds=4.0, model="small"))
    journal.add("call", 37, agent="helper-1", index=0, name="read_file", state="error", seconds=0.5, decision="denied")
    usage = {"prompt": 1000, "cached": 200, "output": 50, "thoughts": 10, "tool": 0}
    ended = {"reason": "goal", "turns": 1, "calls": 1, "usage": usage, "cost": 0.5, "seconds": 8.0, "files": 0}
    journal.agent("helper-1", 40, "ended", **ended, error="")
    journal.add("call", 40, index=1, name="invoke_agent", state="success", seconds=8.0, decision="rule")
    journal.answer(43, "Done.", seconds=2.0)
    journal.add("ended", 44, reason="finished")
    side = {"prompt": 10, "cached": 0, "output": 5, "thoughts": 0, "tool": 0}
    journal.add("run", 44, seconds=43.5, side=[["small", 2, side]], retries=1)
    return journal


def test_figures_of_a_recorded_session(tmp_path: Path, prices: RequestPrices) -> None:
    history = read(recorded(tmp_path), prices)
    (run,) = history.runs
    assert (run.prompt, run.started, run.ended, run.seconds) == ("fix it", START + 0.5, START + 44, 43.5)
    assert (run.reason, run.calls, run.waited, run.retries) == ("finished", 5, 20.0, 1)
    assert history.models == (
        ModelUse("fast-001", 3, Usage(3000, 600, 150, 30), None, 8.0, 3),
        ModelUse("small", 3, Usage(1010, 200, 55, 10), None, 4.0, 1),
    )
    assert history.tools == (
        ToolUse("invoke_agent", 1, 0, 8.0, 1),
        ToolUse("read_file", 3, 1, 4.5, 3),
        ToolUse("replace", 1, 0, 1.0, 1),
    )
    assert history.tools[1].mean_seconds == 1.5
    assert history.approvals == ApprovalCounts(asked=1, always=1, rule=3, denied=1, waited=20.0, recorded=5)
    assert history.files == (ChangedFile("/project/a.py", 1, 3, 1),)
    (agent,) = history.agents
    assert (agent.name, agent.reason, agent.seconds, agent.cost, agent.turns) == ("helper", "goal", 8.0, 0.5, 1)
    assert history.usage.total == run.usage.total == 3180 + 1075
    assert history.notes == ()


def test_the_timeline_has_overlapping_calls_and_the_wait_apart_from_its_call(
    tmp_path: Path, prices: RequestPrices
) -> None:
    (timeline,) = read(recorded(tmp_path), prices).timelines
    spans = [
        (span.kind, span.label, span.start - START, span.end - START, span.outcome, span.agent)
        for span in timeline.spans
    ]
    assert spans == [
        (SpanKind.REQUEST, "fast-001", 1, 5, "", ""),
        (SpanKind.CALL, "read_file", 5, 7, "success", ""),
        (SpanKind.CALL, "read_file", 6, 8, "success", ""),
        (SpanKind.REQUEST, "fast-001", 8, 10, "", ""),
        (SpanKind.WAIT, "replace", 10, 30, "proceed_always", ""),
        (SpanKind.CALL, "replace", 30, 31, "success", ""),
        (SpanKind.CALL, "invoke_agent", 32, 40, "success", ""),
        (SpanKind.AGENT, "helper-1", 32, 40, "goal", ""),
        (SpanKind.REQUEST, "small", 32, 36, "", "helper-1"),
        (SpanKind.CALL, "read_file", 36.5, 37, "error", "helper-1"),
        (SpanKind.REQUEST, "fast-001", 41, 43, "", ""),
    ]
    assert (timeline.started - START, timeline.ended - START, timeline.missing) == (0.5, 44, 0)


def test_an_old_session_has_none_for_what_was_not_recorded(tmp_path: Path, prices: RequestPrices) -> None:
    journal = JournalFile(tmp_path, "s1")
    journal.prompt("go", 1)
    journal.answer(2, "", READ)
    journal.response(3, "read_file", output="x")
    journal.answer(4, "Done.")
    journal.add("ended", 5, reason="finished")
    history = read(journal, prices)
    (run,) = history.runs
    assert (run.seconds, run.waited, run.calls) == (4.0, None, 1)
    assert history.tools == (ToolUse("read_file", 1, 0, None, 0),)
    assert history.tools[0].mean_seconds is None
    assert not history.approvals.is_recorded
    assert history.models[0].seconds is None
    assert (history.timelines[0].spans, history.timelines[0].missing) == ((), 3)
    assert history.notes == (
        "Times and approvals of tool calls were not recorded by the version that ran this session.",
    )


def test_a_session_that_was_resumed_by_this_version_counts_what_is_known(tmp_path: Path, prices: RequestPrices) -> None:
    journal = JournalFile(tmp_path, "s1")
    journal.prompt("go", 1)
    journal.answer(2, "", READ, READ)
    journal.add("resumed", 9)
    journal.prompt("on", 10)
    journal.answer(11, "", READ)
    journal.add("call", 12, index=0, name="read_file", state="success", seconds=1.0, decision="rule")
    history = read(journal, prices)
    assert history.tools == (ToolUse("read_file", 3, 0, 1.0, 1),)
    assert history.tools[0].mean_seconds == 1.0
    assert (history.approvals.recorded, history.approvals.unrecorded) == (1, 2)
    assert history.notes == ("The times and approvals of 2 tool calls were not recorded.",)
    assert [(run.ended, run.seconds, run.reason) for run in history.runs] == [(None, None, "")] * 2


def test_changes_of_a_real_run_are_listed_with_those_of_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = ProgramEnv(tmp_path)
    monkeypatch.setenv("HOME", str(machine.home))
    calls = [
        ("write_file", {"file_path": "b.txt", "content": "1\n2\n"}),
        ("run_shell_command", {"command": "echo hi > c.txt"}),
    ]
    model = machine.script(script_answer(say="I work.", calls=calls) + text_script("Done."))
    session_id = machine.run("-p", "go", "-m", model, "--yolo", "-o", "json").json["session_id"]
    history = StoredHistory(load_run_config([str(machine.project)], faults=[])).session(session_id)
    by_name = {Path(file.path).name: (file.added, file.removed) for file in history.files}
    assert by_name == {"b.txt": (2, 0), "c.txt": (None, None)}
    assert history.cost == 0.0
    assert {tool.name: tool.calls for tool in history.tools} == {"write_file": 1, "run_shell_command": 1}
    assert [span.label for span in history.timelines[0].spans if span.kind is SpanKind.CALL] == [
        "write_file",
        "run_shell_command",
    ]
