"""Totals by day and project, and the index that keeps them."""

import json
import multiprocessing
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.journals import JournalFile
from tejat.app.inspection.history import overview as overview_module
from tejat.app.inspection.history.overview import HistoryIndex, build_overview, first_day
from tejat.app.inspection.history.request_prices import RequestPrices
from tejat.app.run_config import load_run_config

NOON = 1_793_016_000.0  # 2026-10-26 12:00 UTC, the day after the end of summer time in Europe
DAY = 86_400.0


@pytest.fixture
def prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RequestPrices]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield RequestPrices(load_run_config([str(tmp_path)], faults=[]))
    monkeypatch.undo()
    time.tzset()


def session(state: Path, session_id: str, started: float, root: str = "/a", model: str = "gemini-2.5-pro") -> str:
    journal = JournalFile(state, session_id, root=root, started=started)
    journal.prompt("go", 1)
    journal.answer(2, "", ("read_file", {}), model=model, tokens=(1_000_000, 0, 1000, 0, 0))
    journal.add("call", 3, index=0, name="read_file", state="success", seconds=2.0, decision="rule")
    journal.add("ended", 4, reason="finished")
    return str(journal.write())


def test_days_of_the_local_time_zone_without_gaps(tmp_path: Path, prices: RequestPrices) -> None:
    late = NOON - DAY + 11.5 * 3600  # 23:30 UTC is already the next day in Berlin
    paths = [session(tmp_path, "s1", NOON - 3 * DAY), session(tmp_path, "s2", late, "/b")]
    found = build_overview(HistoryIndex(str(tmp_path / "index"), prices).load(paths))
    assert [(day.name, day.sessions) for day in found.days] == [
        ("2026-10-23", 1),
        ("2026-10-24", 0),
        ("2026-10-25", 0),
        ("2026-10-26", 1),
    ]
    assert (found.total.sessions, found.total.runs) == (2, 2)
    assert found.total.tools[0].calls == 2
    assert found.total.approvals.rule == 2
    assert {project.name: project.sessions for project in found.projects} == {"/a": 1, "/b": 1}


def test_a_session_over_two_days_counts_on_both_and_once_in_the_total(tmp_path: Path, prices: RequestPrices) -> None:
    journal = JournalFile(tmp_path, "s1", started=NOON)
    journal.prompt("go", 1)
    journal.answer(2, "one")
    journal.answer(DAY, "two")
    found = build_overview(HistoryIndex(str(tmp_path / "index"), prices).load([str(journal.write())]))
    assert [(day.sessions, day.models[0].requests) for day in found.days] == [(1, 1), (1, 1)]
    assert found.total.sessions == 1
    assert build_overview([], since="2026-10-27").days == ()


def test_costs_are_exact_or_unknown(tmp_path: Path, prices: RequestPrices) -> None:
    index = HistoryIndex(str(tmp_path / "index"), prices)
    known = build_overview(index.load([session(tmp_path, "s1", NOON)]))
    # Longer prompts than 200,000 tokens cost 2.50 and 15 dollars per million.
    assert known.total.cost == pytest.approx(2.50 + 0.015)
    both = build_overview(index.load([session(tmp_path, "s1", NOON), session(tmp_path, "s2", NOON, model="who")]))
    assert both.total.cost is None
    assert {use.model: use.cost for use in both.total.models}["who"] is None


def test_since_leaves_out_earlier_days(tmp_path: Path, prices: RequestPrices) -> None:
    paths = [session(tmp_path, f"s{number}", NOON - number * DAY) for number in range(5)]
    since = first_day(2, NOON)
    found = build_overview(HistoryIndex(str(tmp_path / "index"), prices).load(paths), since=since)
    assert [day.name for day in found.days] == ["2026-10-25", "2026-10-26"]
    assert found.total.sessions == 2


def test_only_changed_journals_are_read_again(
    tmp_path: Path, prices: RequestPrices, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [session(tmp_path, f"s{number}", NOON) for number in range(3)]
    directory = str(tmp_path / "index")
    cold = HistoryIndex(directory, prices).load(paths)
    read: list[str] = []
    scan = overview_module.scan_journal
    monkeypatch.setattr(overview_module, "scan_journal", lambda path: (read.append(path), scan(path))[1])
    assert HistoryIndex(directory, prices).load(paths) == cold
    assert read == []
    with open(paths[1], "a") as file:
        file.write('{"v":1,"kind":"prompt","at":1793016100,"shown":"more","message":{"role":"user","parts":[]}}\n')
    warm = HistoryIndex(directory, prices).load(paths)
    assert read == [paths[1]]
    assert warm[1].days[0].runs == 2


def test_the_index_is_private_holds_no_text_and_forgets_deleted_sessions(tmp_path: Path, prices: RequestPrices) -> None:
    paths = [session(tmp_path, "s1", NOON), session(tmp_path, "s2", NOON), session(tmp_path, "s3", NOON, "/b")]
    directory = tmp_path / "index"
    HistoryIndex(str(directory), prices).load(paths)
    files = list(directory.iterdir())
    assert len(files) == 2
    assert directory.stat().st_mode & 0o777 == 0o700
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files)
    assert not any("the title" in file.read_text() for file in files)
    HistoryIndex(str(directory), prices).load(paths[:1])
    (left,) = directory.iterdir()
    assert list(json.loads(left.read_text())["files"]) == paths[:1]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b'{"version":"x"}'])
def test_a_damaged_index_is_made_again(tmp_path: Path, prices: RequestPrices, content: bytes) -> None:
    paths = [session(tmp_path, "s1", NOON)]
    directory = tmp_path / "index"
    expected = HistoryIndex(str(directory), prices).load(paths)
    (file,) = directory.iterdir()
    file.write_bytes(content)
    assert HistoryIndex(str(directory), prices).load(paths) == expected
    assert HistoryIndex(str(directory), prices).load(paths) == expected
    stored = json.loads(file.read_text())
    stored["files"][paths[0]]["value"]["days"][0]["models"] = [["x"]]
    file.write_text(json.dumps(stored))
    assert HistoryIndex(str(directory), prices).load(paths) == expected


def _load(directory: str, paths: list[str]) -> None:
    index = HistoryIndex(directory, RequestPrices(load_run_config(["."], faults=[])))
    for _ in range(20):
        assert len(index.load(paths)) == len(paths)


def test_two_processes_at_once(tmp_path: Path, prices: RequestPrices) -> None:
    paths = [session(tmp_path, f"s{number}", NOON) for number in range(20)]
    directory = str(tmp_path / "index")
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_load, args=(directory, part)) for part in (paths, paths[:10])]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert len(HistoryIndex(directory, prices).load(paths)) == 20


def test_a_journal_that_is_gone_is_noted(tmp_path: Path, prices: RequestPrices) -> None:
    path = session(tmp_path, "s1", NOON)
    os.unlink(path)
    index = HistoryIndex(str(tmp_path / "index"), prices)
    assert build_overview(index.load([path]), unreadable=index.unreadable).notes == ("1 session could not be read.",)
