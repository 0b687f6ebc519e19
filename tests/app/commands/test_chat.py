"""`/chat`: conversations under a name."""

import json
import stat
from pathlib import Path

import pytest

from command_checks import texts
from desk_checks import Room, Sitting
from program_checks import answer, said


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def files(room: Room) -> list[Path]:
    return sorted((room.home / ".local" / "state" / "tejat" / "chats").rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/chat", "Missing command\nUsage: /chat <list|save|resume> [tag]"),
        ("/chat save", "Missing tag. Usage: /chat save <tag>"),
        ("/chat resume", "Missing tag. Usage: /chat resume <tag>"),
        ("/chat delete  ", "Missing tag. Usage: /chat delete <tag>"),
        ("/chat sing", "Unknown /chat command: sing. Available: list, save, resume, delete, share"),
        ("/chat save a", "No conversation found to save."),
        ("/chat share", "No conversation found to share."),
        ("/chat share a.txt", "Invalid file format. Only .md and .json are supported."),
        ("/chat list", "No saved conversation checkpoints found."),
        ("/chat resume nobody", "No saved checkpoint found with tag: nobody."),
        ("/chat delete nobody", "Error: No checkpoint found with tag 'nobody'."),
    ],
)
def test_what_cannot_be_done(room: Room, line: str, told: str) -> None:
    async def work(sitting: Sitting) -> str:
        return await sitting.shown(line)

    assert room.sit(work) == told
    assert files(room) == []


def test_a_name_that_is_too_long(room: Room) -> None:
    async def work(sitting: Sitting) -> str:
        await sitting.ask("hi")
        return await sitting.shown(f"/chat save {'ä' * 100}")

    assert room.sit(work) == "This name is too long. Choose a shorter one."


@pytest.mark.parametrize("tag", ["mine", "two words", "../../etc/passwd", "a%2Fb", "für später 🙂"])
def test_kept_and_taken_up(room: Room, tag: str) -> None:
    async def keep(sitting: Sitting) -> str:
        await sitting.ask("apples")
        return await sitting.shown(f"/chat save {tag}")

    async def take(sitting: Sitting) -> tuple[str, str, list[str]]:
        before = sitting.session.session_id
        shown = await sitting.shown(f"/chat resume {tag}")
        assert sitting.session.session_id != before
        await sitting.ask("and pears?")
        return await sitting.shown("/chat list"), shown, sitting.said

    assert room.sit(keep, script=said("About apples.")) == f"Conversation checkpoint saved with tag: {tag}."
    (path,) = files(room)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.parent.parent.name == "chats"
    listed, shown, texts_then = room.sit(take, script=said("About pears."))
    assert listed.splitlines()[0] == "List of saved conversations:"
    assert listed.splitlines()[1].startswith(f"{tag}  20")
    assert shown == "Where you left off\n> apples\nAbout apples."
    assert texts_then == ["apples", "About apples.", "and pears?", "About pears."]

    async def look(sitting: Sitting) -> tuple[list[str], int]:
        return sitting.said, sitting.session.conversation.premises.opening

    assert room.sit(look, resume="latest") == (texts_then, 2)


def test_written_over_only_with_a_yes(room: Room) -> None:
    async def work(sitting: Sitting) -> list[str]:
        await sitting.ask("one")
        shown = [await sitting.shown("/chat save a")]
        await sitting.ask("two")
        shown += [await sitting.shown("/chat save a"), await sitting.shown("/chat save a", choices=[0])]
        await sitting.obey("/clear")
        shown.append(await sitting.shown("/chat load a"))
        await sitting.ask("three")
        shown += [await sitting.shown("/chat save a", choices=[1]), await sitting.shown("/chat restore a")]
        return shown

    saved, kept = "Conversation checkpoint saved with tag: a.", "Nothing was saved."
    first = "Where you left off\n> one\n1"
    assert room.sit(work, script=said("1", "2", "3")) == [
        *(saved, kept, kept, first, saved),
        f"{first}\n> three\n3",
    ]


def test_forgotten(room: Room) -> None:
    async def work(sitting: Sitting) -> list[str]:
        await sitting.ask("one")
        await sitting.obey("/chat save a")
        return [await sitting.shown("/chat delete a"), await sitting.shown("/chat list")]

    told = ["Conversation checkpoint 'a' has been deleted.", "No saved conversation checkpoints found."]
    assert room.sit(work) == told


def test_without_secrets(room: Room) -> None:
    room.environment["SERVICE_TOKEN"] = "a-secret-of-some-length"

    async def work(sitting: Sitting) -> None:
        await sitting.ask("it is a-secret-of-some-length")
        await sitting.obey("/chat save a")
        await sitting.obey("/chat share a.md")

    room.sit(work)
    kept = files(room)[0].read_text() + (room.project / "a.md").read_text()
    assert "a-secret-of-some-length" not in kept


class TestShare:
    def test_in_markdown(self, room: Room) -> None:
        script = answer(say="I look.", calls=[("list_directory", {"path": "${root}"})]) + said("Nothing.")

        async def work(sitting: Sitting) -> str:
            await sitting.ask("what is here?")
            return await sitting.shown("/chat share talk.md")

        path = room.project / "talk.md"
        assert room.sit(work, script=script) == f"Conversation shared to {path}"
        text = path.read_text()
        assert text.startswith("## User\n\nwhat is here?\n\n---\n\n## Model\n\nI look.\n\n**Call of list_directory**")
        assert text.endswith("\n\n---\n\n## Model\n\nNothing.\n")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_as_json(self, room: Room) -> None:
        async def work(sitting: Sitting) -> None:
            await sitting.ask("hi")
            await sitting.obey("/chat share talk.json")

        room.sit(work)
        assert [message["role"] for message in json.loads((room.project / "talk.json").read_text())] == [
            *("user", "model")
        ]

    def test_with_a_name_of_its_own(self, room: Room) -> None:
        async def work(sitting: Sitting) -> None:
            await sitting.ask("hi")
            await sitting.obey("/chat share")

        room.sit(work)
        (path,) = room.project.glob("conversation-*.md")
        assert path.read_text() == "## User\n\nhi\n\n---\n\n## Model\n\nHello there.\n"

    def test_nothing_is_lost_without_a_yes(self, room: Room) -> None:
        path = room.project / "talk.md"
        path.write_text("mine")

        async def work(sitting: Sitting) -> list[str]:
            await sitting.ask("hi")
            return [await sitting.shown("/chat share talk.md"), path.read_text()]

        assert room.sit(work) == ["Nothing was written.", "mine"]

    def test_no_such_place(self, room: Room) -> None:
        async def work(sitting: Sitting) -> str:
            await sitting.ask("hi")
            return await sitting.shown("/chat share no/where.md")

        path = room.project / "no" / "where.md"
        assert room.sit(work) == f"That did not work: {path}: No such file or directory."


def test_suggestions(room: Room) -> None:
    async def work(sitting: Sitting) -> list[list[str]]:
        await sitting.ask("hi")
        await sitting.obey("/chat save alpha")
        lines = ("/chat s", "/chat resume a", "/chat list a")
        return [texts(await sitting.desk.commands.suggestions(line)) for line in lines]

    assert room.sit(work) == [["save", "share"], ["alpha"], []]
