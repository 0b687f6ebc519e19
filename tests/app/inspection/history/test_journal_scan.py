"""The facts in journals, old and new, whole and damaged."""

from pathlib import Path

from support.journals import START, JournalFile
from tejat.app.inspection.history.journal_scan import scan_journal

READ = ("read_file", {"file_path": "a"})


def test_runs_begin_with_prompts_of_the_user(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path, "s1")
    journal.prompt("first", 1)
    journal.prompt("environment", 1, stays=True)
    journal.prompt("", 2)
    journal.answer(3, "one")
    journal.add("ended", 4, reason="finished")
    journal.prompt("killed", 10)
    journal.answer(11, "two")
    journal.add("resumed", 100)
    journal.prompt("third", 101)
    journal.add("ended", 102, reason="interrupted")
    scan = scan_journal(str(journal.write()))
    assert [(run.prompt, run.reason, run.ended) for run in scan.runs] == [
        ("first", "finished", START + 4),
        ("killed", "", None),
        ("third", "interrupted", START + 102),
    ]
    assert [request.run for request in scan.requests] == [0, 1]
    assert (scan.session_id, scan.root, scan.model, scan.damaged) == ("s1", "/project", "gemini:fast", 0)


def test_an_attachment_without_text_begins_a_run_too(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path, "s1")
    journal.add("prompt", 1, shown="", message={"role": "user", "parts": [{"text": "from a file"}]})
    assert [run.prompt for run in scan_journal(str(journal.write())).runs] == ["from a file"]


def test_a_call_record_completes_the_call_of_the_answer(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path, "s1")
    journal.prompt("go", 1)
    journal.answer(2, "", READ, ("write_file", {"file_path": "b"}), seconds=0.9)
    journal.response(3, "read_file", 0, output="x")
    journal.add("call", 3, index=0, name="read_file", state="success", seconds=0.5, decision="rule")
    waits = [[START + 3, 4.0, "edit", "proceed_once"]]
    journal.add(
        "call", 8, index=1, name="write_file", state="error", seconds=1.0, decision="once", waits=waits, lines=[3, 1]
    )
    scan = scan_journal(str(journal.write()))
    read, write = scan.calls
    assert (read.name, read.seconds, read.decision, read.is_failed) == ("read_file", 0.5, "rule", False)
    assert (write.name, write.is_failed, write.lines, write.at) == ("write_file", True, (3, 1), START + 8)
    (wait,) = scan.waits
    assert (wait.start, wait.seconds, wait.label, wait.outcome) == (START + 3, 4.0, "write_file", "proceed_once")
    assert scan.requests[0].seconds == 0.9


def test_an_old_journal_shows_failures_but_no_times(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path, "s1")
    journal.prompt("go", 1)
    journal.answer(2, "", READ, READ)
    journal.response(3, "read_file", 0, output='{"response":{"error":"no"}}')
    journal.response(3, "read_file", 1, error="no such file")
    scan = scan_journal(str(journal.write()))
    assert [(call.is_failed, call.seconds, call.decision) for call in scan.calls] == [
        (False, None, None),
        (True, None, None),
    ]


def test_a_call_of_no_answer_is_counted_on_its_own(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path, "s1")
    journal.prompt("go", 1)
    journal.answer(2, "", READ)
    for _ in range(2):
        journal.add("call", 3, index=0, name="read_file", state="success", seconds=0.5)
    journal.add("call", 3, index=5, name="glob", state="success", seconds=0.5)
    assert [call.name for call in scan_journal(str(journal.write())).calls] == ["read_file", "read_file", "glob"]


def test_damaged_lines_are_counted_and_newer_kinds_are_not(tmp_path: Path) -> None:
    journal = JournalFile(tmp_path, "s1")
    journal.prompt("go", 1)
    journal.add("hologram", 2, depth=3)
    path = journal.write(
        '{"v":1,"kind":"prompt","at":',
        '{"v":1,"kind":"call","at":5,"index":"zero"}',
        '{"v":2,"kind":"prompt","at":5}',
        "",
        '{"v":1,"kind":"ended","at":1770000009,"reason":"finished"}',
    )
    scan = scan_journal(str(path))
    assert scan.damaged == 2
    assert [(run.prompt, run.reason) for run in scan.runs] == [("go", "finished")]
