"""`/stats`."""

from pathlib import Path

import pytest

from command_checks import HELLO, Desks, Seat

CALLS = """
[[answer]]
usage = { prompt = 1000, cached = 400, output = 5 }
[[answer.call]]
name = "list_directory"
args = { path = "." }
[[answer.call]]
name = "read_file"
args = { path = "missing" }
"""


@pytest.fixture
def desks(tmp_path: Path) -> Desks:
    return Desks(tmp_path)


def after_a_run(desks: Desks, line: str) -> list[str]:
    async def work(seat: Seat) -> str:
        await seat.ask("go")
        for counted in (*seat.parts.statistics.models.values(), *seat.parts.statistics.tools.values()):
            counted.seconds = 61.2
        return await seat.shown_by(line)

    return desks.at_desk(work, script=CALLS + HELLO).splitlines()


def test_the_session(desks: Desks) -> None:
    lines = after_a_run(desks, "/stats")
    assert [line.partition("  ")[0] for line in lines[:2]] == ["This session", "Session"]
    assert lines[2:] == [
        "Requests  2",
        "Tokens sent  1,010",
        "Of these cached  400",
        "Tokens received  10",
        "Cost  $0.0000",
        "Calls  2",
        "Of these failed  1",
        "Not allowed  0",
        "Lines changed  +0 -0",
        "Time of models  1 min 1 s",
        "Time of tools  2 min 2 s",
    ]
    assert after_a_run(desks, "/usage")[2:] == lines[2:]


def test_by_model(desks: Desks) -> None:
    assert after_a_run(desks, "/stats model") == [
        "Models",
        "Model  Requests  Errors  Sent  Cached  Received  Time",
        "scripted  2  0  1,010  400  10  1 min 1 s",
    ]


def test_by_tool(desks: Desks) -> None:
    assert after_a_run(desks, "/stats tools") == [
        "Tools",
        "Tool  Calls  Failed  Refused  Time",
        "list_directory  1  0  0  1 min 1 s",
        "read_file  1  1  0  1 min 1 s",
    ]


def test_before_anything_happened(desks: Desks) -> None:
    assert desks.shown("/stats model") == "Models\nNo model was asked yet."
    assert desks.shown("/stats tools") == "Tools\nNo tool was called yet."
    assert "\nTime of models  0.0 s\n" in desks.shown("/stats")


def test_any_other_word(desks: Desks) -> None:
    assert desks.shown("/stats all") == "Usage: /stats [model | tools]"
