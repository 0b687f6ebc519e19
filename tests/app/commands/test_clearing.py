"""`/clear` and `/compress`."""

import json
from pathlib import Path

import pytest

from desk_checks import Room, Sitting
from program_checks import answer, said
from tejat.core.agent_events import SessionStarted
from tejat.core.commands import ClearScreen, Done


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


LONG = " ".join(map(str, range(3000)))


class TestClear:
    def test_another_session_with_a_journal_of_its_own(self, room: Room) -> None:
        async def work(sitting: Sitting) -> tuple[list[str], list[str]]:
            await sitting.ask("one")
            first = sitting.session.session_id
            assert await sitting.obey("/clear") == (ClearScreen(), "")
            assert sitting.messages == []
            await sitting.ask("two")
            return [first, sitting.session.session_id], sitting.said

        ids, texts = room.sit(work, script=said("a", "b"))
        assert texts == ["two", "b"]
        kept = [[json.loads(line) for line in path.read_text().splitlines()] for path in room.journals()]
        assert sorted(records[0]["session"] for records in kept) == sorted(ids)
        assert sorted(records[0]["title"] for records in kept) == ["one", "two"]

    def test_the_session_that_is_over_can_be_taken_up(self, room: Room) -> None:
        async def work(sitting: Sitting) -> str:
            await sitting.ask("one")
            await sitting.obey("/clear")
            return await sitting.shown("/resume latest")

        assert room.sit(work, script=said("a")) == "Where you left off\n> one\na"

    def test_it_is_told_as_a_session_of_its_own(self, room: Room) -> None:
        async def work(sitting: Sitting) -> list[bool]:
            await sitting.ask("one")
            await sitting.obey("/clear")
            await sitting.ask("two")
            started = sitting.heard(SessionStarted)
            assert started[0].session_id != started[1].session_id
            return [event.is_resumed for event in started]

        assert room.sit(work, script=said("a", "b")) == [False, False]

    def test_hooks_hear_of_it(self, room: Room) -> None:
        def hook(event: str) -> list[object]:
            command = f"{{ cat; echo; }} >> {room.base}/{event}"
            return [{"hooks": [{"type": "command", "command": command}]}]

        room.person_sets(hooks={event: hook(event) for event in ("SessionStart", "SessionEnd")})

        async def work(sitting: Sitting) -> None:
            await sitting.ask("one")
            await sitting.obey("/clear")
            await sitting.obey("/clear")
            await sitting.ask("two")

        room.sit(work, script=said("a", "b"))

        def told(event: str, field: str) -> list[str]:
            lines = (room.base / event).read_text().splitlines()
            return [json.loads(line)[field] for line in lines if line]

        assert told("SessionStart", "source") == ["startup", "clear"]
        assert told("SessionEnd", "reason") == ["clear", "exit"]
        assert told("SessionStart", "session_id") == told("SessionEnd", "session_id")

    def test_a_session_that_is_not_kept_is_followed_by_one_that_is_not(self, room: Room) -> None:
        async def work(sitting: Sitting) -> None:
            await sitting.obey("/clear")
            await sitting.ask("two")

        room.sit(work, script=said("a"), keeps_session=False)
        assert room.journals() == []


class TestCompress:
    def test_the_counts_are_told(self, room: Room) -> None:
        script = said(LONG, LONG[::-1], "c") + answer(
            say="<state_snapshot>short</state_snapshot>", purpose="compression"
        )

        async def work(sitting: Sitting) -> tuple[list[str], int, int]:
            for prompt in ("one", "two", "three"):
                await sitting.ask(prompt)
            before = sitting.session.conversation.tokens
            effect, shown = await sitting.obey("/compress")
            assert effect == Done()
            return shown.split(), before, sitting.session.conversation.tokens

        words, before, after = room.sit(work, script=script)
        assert words == ["Chat", "history", "compressed", "from", str(before), "to", str(after), "tokens."]
        assert after < before

    def test_where_there_is_nothing(self, room: Room) -> None:
        async def work(sitting: Sitting) -> str:
            return await sitting.shown("/compress")

        assert room.sit(work) == "Nothing to compress."

    def test_where_the_model_fails(self, room: Room) -> None:
        script = said(LONG, "b") + answer(fail="bad_request", detail="No such luck.", purpose="compression")

        async def work(sitting: Sitting) -> tuple[str, list[str]]:
            await sitting.ask("one")
            await sitting.ask("two")
            return await sitting.shown("/compress"), sitting.said

        shown, texts = room.sit(work, script=script)
        assert shown == "Could not compress chat history: No such luck."
        assert texts == ["one", LONG, "two", "b"]

    def test_what_it_costs_counts(self, room: Room) -> None:
        usage = {"prompt": 10, "output": 5}
        script = said(LONG, "b") + answer(say="short", purpose="compression", usage=usage)

        async def work(sitting: Sitting) -> int:
            await sitting.ask("one")
            await sitting.ask("two")
            await sitting.obey("/compress")
            return sitting.desk.parts.statistics.usage.total

        assert room.sit(work, script=script) == 15
