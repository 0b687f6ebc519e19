"""`/directory`: where a session works."""

from pathlib import Path

import pytest

from command_checks import texts
from desk_checks import Room, Sitting
from foreign_checks import HOSTILE, PATIENT
from mcp_links import eventually
from model_server import ModelServer, say
from program_checks import answer, said


@pytest.fixture
def room(tmp_path: Path) -> Room:
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra" / "notes.txt").write_text("from extra")
    return Room(tmp_path)


def test_shown(room: Room) -> None:
    async def work(sitting: Sitting) -> list[str]:
        return [await sitting.shown("/directory show"), await sitting.shown("/dir show")]

    assert room.sit(work) == [f"Current workspace directories:\n- {room.project}"] * 2


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/directory", "Usage: /directory show | add PATH[,PATH]"),
        ("/directory remove x", "Usage: /directory show | add PATH[,PATH]"),
        ("/directory show x", "Usage: /directory show | add PATH[,PATH]"),
        ("/directory add", "Please provide at least one path to add."),
    ],
)
def test_what_cannot_be_meant(room: Room, line: str, told: str) -> None:
    async def work(sitting: Sitting) -> str:
        return await sitting.shown(line)

    assert room.sit(work) == told


def test_each_is_told_of(room: Room) -> None:
    (room.base / "a file").write_text("")

    async def work(sitting: Sitting) -> tuple[str, str]:
        shown = await sitting.shown("/directory add ../extra, nowhere,../a file,.,~, ")
        return shown, await sitting.shown("/dir show")

    told, shown = room.sit(work)
    extra, home = room.base / "extra", room.home
    unusable = "Workspace directory cannot be used:"
    assert told.splitlines() == [
        "Successfully added directories:",
        f"- {extra}",
        f"- {home}",
        "The following directories are already in the workspace:",
        f"- {room.project}",
        f"Error adding 'nowhere': {unusable} {room.project}/nowhere (No such file or directory)",
        f"Error adding '../a file': {unusable} {room.base}/a file (Not a directory)",
    ]
    assert shown.splitlines()[1:] == [f"- {room.project}", f"- {extra}", f"- {home}"]


def test_tools_rules_and_undo_see_it(room: Room) -> None:
    extra = room.base / "extra"
    calls = [
        ("read_file", {"absolute_path": f"{extra}/notes.txt"}),
        ("write_file", {"file_path": f"{extra}/new.txt", "content": "new"}),
        ("run_shell_command", {"command": f"cat {extra}/new.txt; rm {extra}/notes.txt", "directory": str(extra)}),
    ]
    script = answer(say="First.", calls=[("write_file", {"file_path": "${root}/a", "content": "a"})]) + said("Ok.")
    script += answer(say="I work.", calls=calls) + said("Done.")

    async def work(sitting: Sitting) -> list[str]:
        await sitting.ask("begin")
        await sitting.obey(f"/directory add {extra}")
        await sitting.ask("go")
        outputs = [str(response.response) for message in sitting.messages for response in message.responses][1:]
        assert sorted(path.name for path in extra.iterdir()) == ["new.txt"]
        assert await sitting.shown("/undo 2", choices=[1]) == "Put back 2 paths."
        return outputs

    outputs = room.sit(work, script=script)
    assert "from extra" in outputs[0]
    assert "Successfully created" in outputs[1]
    assert "Stdout: new" in outputs[2]
    assert [path.name for path in extra.iterdir()] == ["notes.txt"]


def test_the_model_is_told_with_the_next_prompt_and_in_the_next_session(room: Room) -> None:
    extra = room.base / "extra"
    with ModelServer([say("I see."), say("I see.")]) as service:
        room.environment |= {"GEMINI_API_KEY": "a-key-of-a-test", "GOOGLE_GEMINI_BASE_URL": service.address}

        async def work(sitting: Sitting) -> None:
            await sitting.obey("/directory add ../extra")
            await sitting.ask("hi")
            await sitting.obey("/clear")
            await sitting.ask("hi")

        room.sit(work, model="gemini-2.5-pro")
    first, second = (request.body["contents"] for request in service.requests)
    told = first[-1]["parts"][0]["text"]
    assert told.startswith(f"From now on I am working in these directories too:\n  - {extra}\n")
    assert "notes.txt" in told
    assert f"I am working in these directories:\n  - {room.project}\n  - {extra}\n" in second[0]["parts"][0]["text"]


def test_what_is_written_for_the_model_there(room: Room) -> None:
    (room.base / "extra" / "GEMINI.md").write_text("Mind the gap.")
    room.person_sets(context={"loadMemoryFromIncludeDirectories": True})

    async def work(sitting: Sitting) -> list[bool]:
        conversation = sitting.session.conversation
        seen = ["Mind the gap." in conversation.premises.system]
        await sitting.obey("/directory add ../extra")
        return [*seen, "Mind the gap." in conversation.premises.system]

    assert room.sit(work) == [False, True]


def test_servers_are_told(room: Room) -> None:
    log = room.base / "log"
    arguments = ["-c", 'tee "$0" | exec "$@"', str(log), *HOSTILE]
    room.person_sets(mcpServers={"far": {"command": "/bin/sh", "args": arguments, "startTimeout": PATIENT}})

    async def work(sitting: Sitting) -> None:
        await eventually(lambda: sitting.desk.status.servers.ready == 1)
        await sitting.obey("/directory add ../extra")
        await eventually(lambda: "notifications/roots/list_changed" in log.read_text())

    room.sit(work)


def test_suggestions(room: Room) -> None:
    (room.project / "src").mkdir()
    (room.project / ".hidden").mkdir()

    async def work(sitting: Sitting) -> list[list[str]]:
        lines = ("/dir ", "/dir add ", "/dir add src,../e", "/dir add .h", "/dir show s", "/dir add /no/where/")
        return [texts(await sitting.desk.commands.suggestions(line)) for line in lines]

    assert room.sit(work) == [["show", "add"], ["src/"], ["../extra/"], [".hidden/"], [], []]
