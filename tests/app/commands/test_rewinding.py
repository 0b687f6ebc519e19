"""`/rewind`: back to before a prompt, with the files or without."""

from pathlib import Path

import pytest

from command_checks import texts
from desk_checks import Room, Sitting
from persons import Answering
from program_checks import answer, said
from tejat.core.commands import Done, Refill
from tejat.core.person import Choice

BACK = "The conversation is where it was before this prompt."


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def writing(name: str, content: str) -> str:
    call = ("write_file", {"file_path": f"${{root}}/{name}", "content": content})
    return answer(say=f"I write {name}.", calls=[call]) + said(f"Wrote {name}.")


async def look(sitting: Sitting) -> tuple[list[str], list[str]]:
    return sitting.said, [mark.shown for mark in sitting.session.conversation.marks]


def test_the_prompt_comes_back_and_what_came_of_it_is_gone(room: Room) -> None:
    async def work(sitting: Sitting) -> list[str]:
        for prompt in ("one", "two", "three"):
            await sitting.ask(prompt)
        assert await sitting.obey("/rewind 2") == (Refill("two"), BACK)
        await sitting.ask("two, but better")
        return sitting.said

    texts_then = room.sit(work, script=said("a", "b", "c", "d"))
    assert texts_then == ["one", "a", "two, but better", "d"]
    assert room.sit(look, resume="latest") == (texts_then, ["one", "two, but better"])


def test_at_once_after_a_session_was_taken_up(room: Room) -> None:
    async def first(sitting: Sitting) -> None:
        await sitting.ask("one")
        await sitting.ask("two")

    async def second(sitting: Sitting) -> object:
        return await sitting.obey("/rewind 1")

    room.sit(first, script=said("a", "b"))
    assert room.sit(second, resume="latest") == (Refill("one"), BACK)
    assert room.sit(look, resume="latest") == ([], [])


def test_by_choice_the_newest_stands_first(room: Room) -> None:
    async def work(sitting: Sitting) -> tuple[object, list[str]]:
        await sitting.ask("one\n  and a half")
        await sitting.ask("two")
        person = Answering(choices=[1])
        effect = await sitting.desk.commands.run("/rewind", person, sitting.events.append)
        (asked,) = person.asked
        assert isinstance(asked, Choice)
        return effect, [option.label for option in asked.options]

    assert room.sit(work, script=said("a", "b")) == (Refill("one\n  and a half"), ["two", "one and a half"])


@pytest.mark.parametrize("word", ["0", "3", "-1", "two", "²", "9" * 5000])
def test_a_number_that_is_none(room: Room, word: str) -> None:
    async def work(sitting: Sitting) -> tuple[str, list[str]]:
        await sitting.ask("one")
        await sitting.ask("two")
        return await sitting.shown(f"/rewind {word}"), sitting.said

    told = "There are prompts from 1 to 2, the first one is 1."
    assert room.sit(work, script=said("a", "b")) == (told, ["one", "a", "two", "b"])


def test_where_nothing_was_asked(room: Room) -> None:
    async def work(sitting: Sitting) -> object:
        return await sitting.obey("/rewind")

    assert room.sit(work) == (Done(), "There is no prompt in this conversation that you could go back to.")


def test_a_prompt_that_came_to_nothing_is_no_place_to_go_back_to(room: Room) -> None:
    async def work(sitting: Sitting) -> tuple[list[str], list[str]]:
        await sitting.ask("one")
        await sitting.ask("two")
        return await look(sitting)

    script = said("a") + answer(fail="bad_request", detail="No.")
    assert room.sit(work, script=script) == (["one", "a"], ["one"])
    assert room.sit(look, resume="latest") == (["one", "a"], ["one"])


def test_a_line_of_the_shell_before_a_prompt_stays(room: Room) -> None:
    async def work(sitting: Sitting) -> list[str]:
        await sitting.ask("one")
        await sitting.desk.run_shell("echo hi", lambda _: None)
        await sitting.ask("two")
        await sitting.obey("/rewind 2")
        return sitting.said

    lived = room.sit(work, script=said("a", "b"))
    assert lived[:2] == ["one", "a"]
    assert lived[2].startswith("I ran the following shell command:")
    assert lived[2].endswith("\n```\nhi\n```")
    assert room.sit(look, resume="latest") == (lived, ["one"])


class TestFiles:
    SCRIPT = writing("a.txt", "1") + writing("a.txt", "2") + writing("b.txt", "3")

    async def asked(self, sitting: Sitting) -> None:
        for prompt in ("one", "two", "three"):
            await sitting.ask(prompt)

    def contents(self, room: Room) -> dict[str, str]:
        return {path.name: path.read_text() for path in sorted(room.project.iterdir())}

    def test_are_put_back_too(self, room: Room) -> None:
        async def work(sitting: Sitting) -> object:
            await self.asked(sitting)
            return await sitting.obey("/rewind 2", choices=[1])

        assert room.sit(work, script=self.SCRIPT) == (Refill("two"), f"Put back 2 paths.\n{BACK}")
        assert self.contents(room) == {"a.txt": "1"}

    def test_are_shown_before(self, room: Room) -> None:
        async def work(sitting: Sitting) -> list[str]:
            await self.asked(sitting)
            person = Answering(choices=[2])
            await sitting.desk.commands.run("/rewind 2", person, sitting.events.append)
            (asked,) = person.asked
            assert isinstance(asked, Choice)
            assert asked.sheet is not None
            person.show(asked.sheet)
            assert [mark.shown for mark in sitting.session.conversation.marks] == ["one", "two", "three"]
            return person.shown.splitlines()

        told, title, first, remove, second, change = room.sit(work, script=self.SCRIPT)
        assert (told, title) == ("Nothing was touched.", "What would be put back")
        assert first.endswith(f" write_file: {room.project}/b.txt")
        assert remove == f"remove  {room.project}/b.txt"
        assert second.endswith(f" write_file: {room.project}/a.txt")
        assert change == f"put back the old content of  {room.project}/a.txt"
        assert self.contents(room) == {"a.txt": "2", "b.txt": "3"}

    def test_are_left_alone(self, room: Room) -> None:
        async def work(sitting: Sitting) -> object:
            await self.asked(sitting)
            return await sitting.obey("/rewind 1", choices=[0])

        assert room.sit(work, script=self.SCRIPT) == (Refill("one"), BACK)
        assert self.contents(room) == {"a.txt": "2", "b.txt": "3"}

    def test_that_the_person_changed_since_are_left_alone(self, room: Room) -> None:
        async def work(sitting: Sitting) -> list[str]:
            await self.asked(sitting)
            (room.project / "a.txt").write_text("mine")
            return (await sitting.shown("/rewind 1", choices=[1])).splitlines()

        refused, why, back = room.sit(work, script=self.SCRIPT)
        assert refused.endswith(" was not put back. Nothing of it was touched, because:")
        assert why.startswith(f"{room.project}/a.txt  ")
        assert back == BACK
        assert self.contents(room) == {"a.txt": "mine"}

    def test_of_another_session_are_none_of_its_business(self, room: Room) -> None:
        async def first(sitting: Sitting) -> None:
            await sitting.ask("one")

        async def second(sitting: Sitting) -> object:
            await sitting.ask("two")
            return await sitting.obey("/rewind 1")

        room.sit(first, script=writing("a.txt", "1"))
        assert room.sit(second) == (Refill("two"), BACK)
        assert self.contents(room) == {"a.txt": "1"}


def test_suggestions(room: Room) -> None:
    async def work(sitting: Sitting) -> list[str]:
        await sitting.ask("one")
        return texts(await sitting.desk.commands.suggestions("/rewind "))

    assert room.sit(work) == ["1"]
