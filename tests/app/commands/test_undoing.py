"""`/undo` and `/restore`: what calls did to files, and the way back."""

from pathlib import Path

import pytest

from command_checks import texts
from desk_checks import Room, Sitting
from persons import Answering
from program_checks import answer, said
from tejat.core.commands import Done, Submit
from tejat.core.person import Choice


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def writing(name: str, content: str) -> str:
    call = ("write_file", {"file_path": f"${{root}}/{name}", "content": content})
    return answer(say=f"I write {name}.", calls=[call]) + said(f"Wrote {name}.")


SCRIPT = writing("a.txt", "1") + writing("a.txt", "2") + writing("b.txt", "3")
NOTHING = "Nothing was touched."


async def asked(sitting: Sitting) -> None:
    for prompt in ("one", "two", "three"):
        await sitting.ask(prompt)


async def ids(sitting: Sitting) -> list[str]:
    """Those of all calls, the newest first."""
    return [line.split()[0] for line in (await sitting.shown("/undo list")).splitlines()[2:]]


def contents(room: Room) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(room.project.iterdir())}


class TestUndo:
    def test_the_last_call(self, room: Room) -> None:
        async def work(sitting: Sitting) -> tuple[object, list[str]]:
            await asked(sitting)
            return await sitting.obey("/undo", choices=[1]), sitting.said[-1:]

        effect, told = room.sit(work, script=SCRIPT)
        assert effect == (Done(), "Put back 1 path.")
        assert contents(room) == {"a.txt": "2"}
        assert told == [
            f"I have taken back what your calls changed. These are as they were before:\n  - {room.project}/b.txt"
        ]

    def test_some_calls(self, room: Room) -> None:
        async def work(sitting: Sitting) -> str:
            await asked(sitting)
            return await sitting.shown("/undo 2", choices=[1])

        assert room.sit(work, script=SCRIPT) == "Put back 2 paths."
        assert contents(room) == {"a.txt": "1"}

    def test_one_call_among_others(self, room: Room) -> None:
        async def work(sitting: Sitting) -> list[str]:
            await asked(sitting)
            newest, second, _ = await ids(sitting)
            shown = await sitting.shown(f"/undo {second}", choices=[1])
            assert newest in await ids(sitting)
            return [shown, *(await ids(sitting))[1:2]]

        told, left = room.sit(work, script=SCRIPT)
        assert told == "Put back 1 path."
        assert contents(room) == {"a.txt": "1", "b.txt": "3"}
        assert left

    def test_not_without_a_yes(self, room: Room) -> None:
        async def work(sitting: Sitting) -> list[str]:
            await asked(sitting)
            return [await sitting.shown("/undo"), await sitting.shown("/undo 3", choices=[0])]

        assert room.sit(work, script=SCRIPT) == [NOTHING, NOTHING]
        assert contents(room) == {"a.txt": "2", "b.txt": "3"}

    def test_what_the_person_changed_since_is_left_alone(self, room: Room) -> None:
        async def work(sitting: Sitting) -> list[str]:
            await asked(sitting)
            (room.project / "b.txt").write_text("mine")
            return (await sitting.shown("/undo", choices=[1])).splitlines()

        refused, why = room.sit(work, script=SCRIPT)
        assert refused.endswith(" was not put back. Nothing of it was touched, because:")
        assert why.startswith(f"{room.project}/b.txt  ")
        assert contents(room) == {"a.txt": "2", "b.txt": "mine"}

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ("/undo", "Nothing to undo."),
            ("/undo 5", "Nothing to undo."),
            ("/undo list", "No restorable tool calls found."),
            ("/undo 0", "Usage: /undo [N | list | ID]"),
            ("/undo zzz", "There is no call zzz that could be undone. /undo list shows them."),
            ("/undo 123456", "There is no call 123456 that could be undone. /undo list shows them."),
        ],
    )
    def test_what_cannot_be_meant(self, room: Room, line: str, told: str) -> None:
        async def work(sitting: Sitting) -> str:
            return await sitting.shown(line)

        assert room.sit(work) == told

    def test_suggestions(self, room: Room) -> None:
        async def work(sitting: Sitting) -> tuple[list[str], list[str]]:
            await asked(sitting)
            return texts(await sitting.desk.commands.suggestions("/undo ")), await ids(sitting)

        suggested, known = room.sit(work, script=SCRIPT)
        assert suggested == ["list", *known]


class TestRestore:
    def test_back_to_before_a_call(self, room: Room) -> None:
        async def work(sitting: Sitting) -> tuple[object, str, list[str], str]:
            await asked(sitting)
            _, second, _ = await ids(sitting)
            effect, shown = await sitting.obey(f"/restore {second}", choices=[0])
            assert isinstance(effect, Submit)
            before = sitting.said
            await sitting.desk.run(effect.prompt, sitting.events.append)
            return effect.shown == f"/restore {second}", shown, before, sitting.said[-1]

        submits, shown, before, after = room.sit(work, script=SCRIPT + said("Again."))
        assert submits
        assert shown == "Put back 2 paths.\nThe conversation is where it was before this call."
        assert before == ["one", "I write a.txt.", "", "Wrote a.txt.", "two"]
        assert after == "Again."
        assert contents(room) == {"a.txt": "1"}

        async def look(sitting: Sitting) -> list[str]:
            return sitting.said

        texts_then = room.sit(look, resume="latest")
        assert texts_then[:4] == before[:4]
        assert texts_then[4].startswith("two")
        assert texts_then[5:] == ["Again."]

    def test_the_person_goes_on(self, room: Room) -> None:
        async def work(sitting: Sitting) -> tuple[object, list[str]]:
            await asked(sitting)
            newest, _, _ = await ids(sitting)
            return (await sitting.obey(f"/restore {newest}", choices=[1]))[0], sitting.said[-1:]

        assert room.sit(work, script=SCRIPT) == (Done(), ["three"])

    def test_the_call_and_the_files_are_shown_before(self, room: Room) -> None:
        async def work(sitting: Sitting) -> list[str]:
            await asked(sitting)
            newest, _, _ = await ids(sitting)
            person = Answering()
            await sitting.desk.commands.run(f"/restore {newest}", person, sitting.events.append)
            (choice,) = person.asked
            assert isinstance(choice, Choice)
            assert choice.sheet is not None
            person.show(choice.sheet)
            return person.shown.splitlines()

        lines = room.sit(work, script=SCRIPT)
        assert lines[0] == NOTHING
        assert lines[-4:] == [
            "The model had asked for:",
            "[model]",
            "I write b.txt.",
            f'called write_file {{"file_path": "{room.project}/b.txt", "content": "3"}}',
        ]
        assert contents(room) == {"a.txt": "2", "b.txt": "3"}

    def test_what_cannot_be_put_back_leaves_the_conversation(self, room: Room) -> None:
        async def work(sitting: Sitting) -> tuple[str, int]:
            await asked(sitting)
            newest, _, _ = await ids(sitting)
            (room.project / "b.txt").write_text("mine")
            before = len(sitting.messages)
            shown = await sitting.shown(f"/restore {newest}", choices=[0])
            return shown.splitlines()[-1], len(sitting.messages) - before

        assert room.sit(work, script=SCRIPT) == ("The conversation stays as it is.", 0)

    def test_those_that_there_are(self, room: Room) -> None:
        async def work(sitting: Sitting) -> tuple[list[str], list[str], list[str]]:
            await asked(sitting)
            lines = (await sitting.shown("/restore")).splitlines()
            await sitting.obey("/undo", choices=[1])
            suggested = texts(await sitting.desk.commands.suggestions("/restore "))
            return lines, suggested, await ids(sitting)

        lines, suggested, known = room.sit(work, script=SCRIPT)
        assert lines[:2] == ["Calls that can be gone back to", "Id  When  Tool  About  Changes"]
        assert lines[2].endswith(f"  write_file  {room.project}/b.txt  1 created")
        assert lines[3].endswith(f"  write_file  {room.project}/a.txt  1 changed")
        assert len(lines) == 5
        assert suggested == known

    @pytest.mark.parametrize(
        ("line", "told"),
        [("/restore", "No restorable tool calls found."), ("/restore nobody", "File not found: nobody.json")],
    )
    def test_where_there_is_none(self, room: Room, line: str, told: str) -> None:
        async def work(sitting: Sitting) -> str:
            return await sitting.shown(line)

        assert room.sit(work) == told
