"""`/resume`: an earlier session of the project."""

import json
from pathlib import Path

import pytest

from command_checks import texts
from desk_checks import Room, Sitting
from persons import Answering
from program_checks import said
from tejat.core.agent_events import SessionStarted
from tejat.core.person import Choice


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def earlier(room: Room, *prompts: str) -> str:
    """A session that is over; its id."""

    async def work(sitting: Sitting) -> str:
        for prompt in prompts:
            await sitting.ask(prompt)
        return sitting.session.session_id

    return room.sit(work, script=said(*(f"About {prompt}." for prompt in prompts)))


@pytest.mark.parametrize("word", ["latest", "1", "the id", "its beginning"])
def test_by_a_word(room: Room, word: str) -> None:
    session_id = earlier(room, "apples", "pears")
    meant = {"the id": session_id, "its beginning": session_id[:6]}.get(word, word)

    async def work(sitting: Sitting) -> tuple[str, list[str], list[str]]:
        await sitting.ask("something else")
        shown = await sitting.shown(f"/resume {meant}")
        await sitting.ask("and then?")
        return shown, sitting.said, [event.session_id for event in sitting.heard(SessionStarted) if event.is_resumed]

    shown, said_then, resumed = room.sit(work, script=said("Hm.", "Then."))
    assert shown == "Where you left off\n> apples\nAbout apples.\n> pears\nAbout pears."
    assert said_then == ["apples", "About apples.", "pears", "About pears.", "and then?", "Then."]
    assert resumed == [session_id]
    (kept,) = [path for path in room.journals() if session_id in path.read_text()]
    assert [json.loads(line)["kind"] for line in kept.read_text().splitlines()][-4:] == [
        *("resumed", "prompt", "answer", "ended")
    ]


def test_by_choice(room: Room) -> None:
    earlier(room, "apples")
    earlier(room, "pears")

    async def work(sitting: Sitting) -> tuple[list[str], str]:
        await sitting.ask("here")
        person = Answering(choices=[1])
        await sitting.desk.commands.run("/resume", person, sitting.events.append)
        (asked,) = person.asked
        assert isinstance(asked, Choice)
        assert asked.title == "Which session do you want to go on with?"
        return [option.label for option in asked.options], person.shown

    labels, shown = room.sit(work, script=said("Hm."))
    assert labels == ["pears", "apples"]
    assert shown == "Where you left off\n> apples\nAbout apples."


def test_who_chooses_nothing_stays(room: Room) -> None:
    earlier(room, "apples")

    async def work(sitting: Sitting) -> tuple[bool, str]:
        before = sitting.session
        return before is sitting.session, await sitting.shown("/resume", choices=[None])

    assert room.sit(work) == (True, "")


@pytest.mark.parametrize("line", ["/resume", "/resume latest"])
def test_where_there_is_none(room: Room, line: str) -> None:
    async def work(sitting: Sitting) -> str:
        await sitting.ask("here")
        return await sitting.shown(line)

    assert room.sit(work) == "There is no other session of this project."


def test_the_own_one(room: Room) -> None:
    async def work(sitting: Sitting) -> str:
        await sitting.ask("here")
        return await sitting.shown(f"/resume {sitting.session.session_id}")

    assert room.sit(work) == "This is the session that you are in."


def test_an_unknown_one(room: Room) -> None:
    session_id = earlier(room, "apples")

    async def work(sitting: Sitting) -> tuple[str, list[str]]:
        await sitting.ask("here")
        return await sitting.shown("/resume nonsense"), sitting.said

    shown, kept = room.sit(work)
    assert shown.startswith("There is no session 'nonsense' of this project, but ")
    assert f"{session_id} (number 1)" in shown
    assert kept == ["here", "Hello there."]


def test_one_that_is_in_use_elsewhere(room: Room) -> None:
    async def work(sitting: Sitting) -> str:
        await sitting.ask("here")
        async with room.sitting() as other:
            return await other.shown("/resume latest")

    shown = room.sit(work)
    assert shown.startswith("The session ")
    assert shown.endswith(" cannot be used: it is in use elsewhere.")


def test_long_talks_are_cut(room: Room) -> None:
    earlier(room, *(f"question {number}" for number in range(6)))

    async def work(sitting: Sitting) -> list[str]:
        return (await sitting.shown("/resume latest")).splitlines()

    lines = room.sit(work)
    assert lines[:3] == ["Where you left off", "… 6 earlier messages", "> question 3"]
    assert lines[-1] == "About question 5."


def test_suggestions(room: Room) -> None:
    session_id = earlier(room, "apples")

    async def work(sitting: Sitting) -> list[str]:
        return texts(await sitting.desk.commands.suggestions("/resume "))

    assert room.sit(work) == ["latest", session_id]
