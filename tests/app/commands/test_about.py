"""`/about`, `/bug` and `/docs`."""

import platform
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from command_checks import HELLO, Desks, Seat
from tejat import __version__

ROOT = Path(__file__).parents[3]


@pytest.fixture
def desks(tmp_path: Path) -> Desks:
    return Desks(tmp_path)


async def facts(seat: Seat) -> list[str]:
    return [
        f"Tejat{{}}{__version__}",
        f"Python{{}}{platform.python_version()}",
        f"System{{}}{platform.system()} {platform.release()} {platform.machine()}",
        f"Model{{}}{seat.parts.session.conversation.model.name}",
        "Mode{}default",
        "Sandbox{}off",
        f"Session{{}}{seat.parts.session.session_id}",
    ]


def test_about(desks: Desks) -> None:
    desks.environment["GEMINI_API_KEY"] = "a-key-of-a-test"
    desks.person_sets(model={"name": "a-model-that-is-not-asked"})

    async def work(seat: Seat) -> tuple[list[str], list[str]]:
        return await facts(seat), (await seat.shown_by("/about")).splitlines()

    known, lines = desks.at_desk(work)
    assert lines[:9] == ["About Tejat", *(fact.format("  ") for fact in known), "What it goes by"]
    assert lines[9:11] == [f"model: name  {desks.script(HELLO)} (asked now)", "model: key  none is needed"]
    assert f"files: settings  {desks.home / '.gemini' / 'settings.json'}" in lines
    assert "a-key-of-a-test" not in "\n".join(lines)


def test_a_defect_without_an_address(desks: Desks) -> None:
    async def work(seat: Seat) -> tuple[list[str], str]:
        return await facts(seat), await seat.shown_by("/bug It is too slow")

    known, shown = desks.at_desk(work)
    report = "\n".join(fact.format(": ") for fact in known)
    assert shown == f"Nothing was sent. Put this into your report:\nIt is too slow\n\n{report}"


def test_a_defect_with_an_address(desks: Desks) -> None:
    desks.person_sets(bugCommand={"urlTemplate": "https://example.com/new?title={title}&info={info}"})

    async def work(seat: Seat) -> tuple[list[str], str]:
        return await facts(seat), await seat.shown_by("/bug A & B: {info} ü")

    known, shown = desks.at_desk(work)
    heading, address = shown.splitlines()
    assert heading == "Nothing was sent. Open this address to report it:"
    asked = parse_qs(urlsplit(address).query)
    assert asked == {"title": ["A & B: {info} ü"], "info": ["\n".join(fact.format(": ") for fact in known)]}


def test_a_defect_without_words(desks: Desks) -> None:
    assert desks.shown("/bug") == "Usage: /bug TITLE"


def test_every_page_of_the_documentation(desks: Desks) -> None:
    lines = desks.shown("/docs").splitlines()
    assert lines[:2] == ["Documentation", "The documentation is in the directory docs of the source code:"]
    assert all((ROOT / "docs" / line.split("  ")[0]).is_file() for line in lines[2:])
