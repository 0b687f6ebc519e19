"""`/model`: another model from now on."""

import json
from pathlib import Path

import pytest

from command_checks import texts
from desk_checks import Room, Sitting
from program_checks import answer, said
from tejat.core.agent_events import ModelChanged


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def test_it_goes_on_with_the_same_conversation(room: Room) -> None:
    other = room.script(said("From the other."), "other.toml")

    async def work(sitting: Sitting) -> tuple[str, list[str], list[ModelChanged]]:
        await sitting.ask("one")
        shown = await sitting.shown(f"/model {other}")
        await sitting.ask("two")
        assert sitting.desk.status.model == other
        return shown, sitting.said, sitting.heard(ModelChanged)

    shown, said_then, changed = room.sit(work)
    assert (shown, said_then) == ("", ["one", "Hello there.", "two", "From the other."])
    assert changed == [ModelChanged(f"scripted:{room.base}/script.toml", other, "You chose it.")]
    assert not (room.home / ".gemini" / "settings.json").exists()


def test_the_next_session_has_it_too(room: Room) -> None:
    other = room.script(said("From the other."), "other.toml")

    async def work(sitting: Sitting) -> str:
        await sitting.obey(f"/model {other}")
        await sitting.obey("/clear")
        return (await sitting.ask("hi")).text

    assert room.sit(work) == "From the other."


def test_for_later_too(room: Room) -> None:
    other = room.script(said("From the other."), "other.toml")

    async def work(sitting: Sitting) -> list[str]:
        return (await sitting.shown(f"/model {other} --persist")).splitlines()

    assert room.sit(work) == [f"model.name is now {other}.", "It counts from the next start on."]
    assert json.loads((room.home / ".gemini" / "settings.json").read_text()) == {"model": {"name": other}}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/model --persist", "Usage: /model [NAME [--persist]]"),
        ("/model one two", "Usage: /model [NAME [--persist]]"),
        ("/model scripted:", "A scripted model needs a file: scripted:FILE"),
    ],
)
def test_what_cannot_be_meant(room: Room, line: str, told: str) -> None:
    async def work(sitting: Sitting) -> tuple[str, str]:
        return await sitting.shown(line), (await sitting.ask("hi")).text

    assert room.sit(work) == (told, "Hello there.")


@pytest.mark.parametrize("name", ["claude-opus-5", "nobody", "scripted:/does/not/exist"])
def test_one_that_cannot_be_had_leaves_the_old_one(room: Room, name: str) -> None:
    async def work(sitting: Sitting) -> tuple[str, str, list[ModelChanged]]:
        shown = await sitting.shown(f"/model {name} --persist")
        return shown, (await sitting.ask("hi")).text, sitting.heard(ModelChanged)

    shown, text, changed = room.sit(work)
    assert shown
    assert (text, changed) == ("Hello there.", [])
    assert not (room.home / ".gemini" / "settings.json").exists()


def test_the_present_one(room: Room) -> None:
    name = f"scripted:{room.base}/script.toml"

    async def work(sitting: Sitting) -> str:
        return await sitting.shown(f"/model {name}")

    assert room.sit(work) == f"{name} answers already."


def test_a_run_that_is_recorded_keeps_its_model(room: Room) -> None:
    async def work(sitting: Sitting) -> str:
        return await sitting.shown("/model gemini-2.5-pro")

    told = "A run that is recorded or played again keeps its model."
    assert room.sit(work, record=str(room.base / "recording.jsonl")) == told


def test_by_choice_among_those_with_a_key(room: Room) -> None:
    room.environment["GEMINI_API_KEY"] = "a-key-of-a-test"

    async def work(sitting: Sitting) -> tuple[list[str], str]:
        names = texts(await sitting.desk.commands.suggestions("/model "))
        await sitting.obey("/model", choices=[names.index("gemini-2.5-flash")])
        return names, sitting.desk.status.model

    names, model = room.sit(work)
    assert names[:2] == [f"scripted:{room.base}/script.toml", "gemini-2.5-pro"]
    assert all(name.startswith(("scripted:", "gemini")) for name in names)
    assert model == "gemini-2.5-flash"


def test_by_typing(room: Room) -> None:
    other = room.script(said("From the other."), "other.toml")

    async def work(sitting: Sitting) -> str:
        await sitting.obey("/model", choices=[1], entries=[f" {other} "])
        return sitting.desk.status.model

    assert room.sit(work) == other


def test_who_chooses_nothing_keeps_it(room: Room) -> None:
    async def work(sitting: Sitting) -> list[str]:
        return [await sitting.shown("/model"), await sitting.shown("/model", choices=[1])]

    assert room.sit(work) == ["", ""]


def test_searching_is_offered_where_the_model_can(room: Room) -> None:
    room.environment["GEMINI_API_KEY"] = "a-key-of-a-test"

    async def work(sitting: Sitting) -> list[bool]:
        registry = sitting.desk.parts.workshop.session.registry
        seen = ["google_web_search" in registry]
        await sitting.obey("/model gemini-2.5-flash")
        seen.append("google_web_search" in registry)
        await sitting.obey(f"/model scripted:{room.base}/script.toml")
        return [*seen, "google_web_search" in registry]

    assert room.sit(work) == [False, True, False]


def test_one_that_fails_later_says_so(room: Room) -> None:
    other = room.script(answer(fail="bad_request", detail="No."), "other.toml")

    async def work(sitting: Sitting) -> str:
        await sitting.obey(f"/model {other}")
        return (await sitting.ask("hi")).message

    assert room.sit(work) == "No."
