"""The history of sessions as fragments of a page."""

import xml.etree.ElementTree as ET

import pytest

from tejat.core.agent.history.figures import (
    ApprovalCounts,
    ChangedFile,
    ModelUse,
    RunHistory,
    SessionHistory,
    SubagentUse,
    ToolUse,
)
from tejat.core.agent.history.matches import MatchPlace, SessionMatch, SessionMatches
from tejat.core.agent.history.timeline import RunTimeline, SpanKind, TimelineSpan
from tejat.core.agent.history.totals import HistoryOverview, PeriodTotals
from tejat.core.frozen import replace
from tejat.core.model import Usage
from tejat.ui.html.history import render_overview, render_search_results, render_session_history

START = 1_770_000_000.0
HOSTILE = '<img src=x onerror="alert(1)">\u202e'
USE = ModelUse("fast", 2, Usage(1000, 400, 50, 10), 0.25, 4.0, 2)
TOOLS = (ToolUse("read_file", 3, 1, 6.0, 3), ToolUse(HOSTILE, 1, 0, None, 0))
APPROVALS = ApprovalCounts(asked=1, once=1, rule=2, waited=20.0, recorded=3)


def page(fragment: str) -> ET.Element:
    return ET.fromstring(f"<div>{fragment}</div>")


def texts(root: ET.Element, tag: str) -> list[str]:
    return ["".join(element.itertext()) for element in root.iter(tag)]


def session() -> SessionHistory:
    span = TimelineSpan(SpanKind.CALL, HOSTILE, START, START + 2, "success")
    return SessionHistory(
        "s1",
        HOSTILE,
        "/project",
        START,
        START + 60,
        runs=(RunHistory(1, HOSTILE, START, START + 60, 60.0, "finished", (USE,), 3, 20.0),),
        models=(USE,),
        tools=TOOLS,
        approvals=APPROVALS,
        files=(ChangedFile(HOSTILE, 1, 3, 1), ChangedFile("/project/b", 1)),
        agents=(SubagentUse("helper-1", "helper", "fast", "help", START),),
        timelines=(RunTimeline(1, "go", START, START + 60, (span,)),),
        notes=("A note.",),
    )


def test_a_session_with_everything() -> None:
    root = page(render_session_history(session()))
    assert texts(root, "h2") == ["Runs", "Timelines", "Models", "Tools", "Approvals", "Changed files", "Sub-agents"]
    figures = dict(zip(texts(root, "dt"), texts(root, "dd"), strict=True))
    assert figures["Cost"] == "$0.25"
    assert figures["Tokens"] == "1,060"
    assert figures["Waited for you"] == "20 s"
    assert figures["Lines"] == "+3 -1"
    assert "A note." in texts(root, "p")
    assert not list(root.iter("img"))
    assert not any("style" in element.attrib for element in root.iter())
    assert "\u202e" not in "".join(root.itertext())


def test_what_was_not_recorded_is_shown_as_unknown() -> None:
    old = replace(
        session(),
        tools=(ToolUse("read_file", 3, 1),),
        approvals=ApprovalCounts(unrecorded=3),
        files=(ChangedFile("/b", 1),),
        models=(replace(USE, cost=None),),
    )
    root = page(render_session_history(old))
    figures = dict(zip(texts(root, "dt"), texts(root, "dd"), strict=True))
    assert (figures["Waited for you"], figures["Lines"], figures["Cost"]) == ("?", "?", "?")
    assert "Approvals" not in texts(root, "h2")


def test_an_overview_has_charts_by_day() -> None:
    day = PeriodTotals("2026-02-02", 1, 1, (USE,), TOOLS, APPROVALS)
    overview = HistoryOverview(replace(day, name=""), (day, PeriodTotals("2026-02-03")), (replace(day, name="/p"),))
    root = page(render_overview(overview))
    captions = texts(root, "figcaption")
    assert captions == ["Tokens by day", "Cost by day", "Time per tool", "Tool calls by decision"]
    identities = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(identities) == len(set(identities))
    assert "/p" in texts(root, "th")


def test_an_empty_overview() -> None:
    root = page(render_overview(HistoryOverview(PeriodTotals(""))))
    assert texts(root, "figcaption") == ["Tokens by day", "Cost by day"]
    assert "No data for this period." in texts(root, "p")


def test_search_results_mark_words_and_link_to_sessions() -> None:
    match = SessionMatch(2, MatchPlace.RESULT, "a <b>needle</b>", ((5, 11),), "read_file", "helper-1")
    found = SessionMatches("s1", HOSTILE, "/project", START, START, (match,), 5)
    broken = SessionMatches("s2", "", "", START, START, problem="Could not read this session: gone.")
    root = page(render_search_results([found, broken], lambda session: f'/s/{session}?a=1&b="2"', now=START + 60))
    assert texts(root, "mark") == ["needle"]
    assert [link.get("href") for link in root.iter("a")] == ['/s/s1?a=1&b="2"', '/s/s2?a=1&b="2"']
    items = texts(root, "li")
    assert "turn 2, result (read_file, helper-1): a <b>needle</b>" in items
    assert "4 more matches" in items
    assert "Could not read this session: gone." in texts(root, "p")


@pytest.mark.parametrize("results", [[], ()])
def test_no_results(results: list[SessionMatches]) -> None:
    assert "No session contains" in render_search_results(results, str)
