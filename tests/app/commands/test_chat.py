"""`/chat`: conversations under a name."""

import json
import stat
from pathlib import Path

import pytest

from support.command_runner import texts
from support.interactive import InteractiveEnv, InteractiveRunner
from support.program import script_answer, text_script


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    return InteractiveEnv(tmp_path)


def files(env: InteractiveEnv) -> list[Path]:
    return sorted((env.home / ".local" / "state" / "tejat" / "chats").rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/chat", "Missing command\nUsage: /chat save|resume|list|delete|share [tag]"),
        ("/chat save", "Missing tag. Usage: /chat save <tag>"),
        ("/chat resume", "Missing tag. Usage: /chat resume <tag>"),
        ("/chat delete  ", "Missing tag. Usage: /chat delete <tag>"),
        ("/chat sing", "Unknown /chat command: sing. Available: list, save, resume, delete, share"),
        ("/chat save a", "No conversation found to save."),
        ("/chat share", "The conversation is empty: nothing to export."),
        ("/chat share a.txt", "Invalid file format. Only .md and .json are supported."),
        ("/chat list", "No saved conversation checkpoints found."),
        ("/chat resume nobody", "No saved checkpoint found with tag: nobody."),
        ("/chat delete nobody", "Error: No checkpoint found with tag 'nobody'."),
    ],
)
def test_what_cannot_be_done(env: InteractiveEnv, line: str, told: str) -> None:
    async def work(runner: InteractiveRunner) -> str:
        return await runner.command_output(line)

    assert env.run_with(work) == told
    assert files(env) == []


def test_a_name_that_is_too_long(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> str:
        await runner.prompt("hi")
        return await runner.command_output(f"/chat save {'ä' * 100}")

    assert env.run_with(work) == "This name is too long. Choose a shorter one."


@pytest.mark.parametrize("tag", ["mine", "two words", "../../etc/passwd", "a%2Fb", "für später 🙂"])
def test_kept_and_taken_up(env: InteractiveEnv, tag: str) -> None:
    async def keep(runner: InteractiveRunner) -> str:
        await runner.prompt("apples")
        return await runner.command_output(f"/chat save {tag}")

    async def take(runner: InteractiveRunner) -> tuple[str, str, list[str]]:
        before = runner.session.session_id
        shown = await runner.command_output(f"/chat resume {tag}")
        assert runner.session.session_id != before
        await runner.prompt("and pears?")
        return await runner.command_output("/chat list"), shown, runner.texts

    assert env.run_with(keep, script=text_script("About apples.")) == f"Conversation checkpoint saved with tag: {tag}."
    (path,) = files(env)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.parent.parent.name == "chats"
    listed, shown, texts_then = env.run_with(take, script=text_script("About pears."))
    assert listed.splitlines()[0] == "List of saved conversations:"
    assert listed.splitlines()[1].startswith(f"{tag}  20")
    assert shown == "Where you left off\n> apples\nAbout apples."
    assert texts_then == ["apples", "About apples.", "and pears?", "About pears."]

    async def read_state(runner: InteractiveRunner) -> tuple[list[str], int]:
        return runner.texts, runner.session.conversation.template.preamble_length

    assert env.run_with(read_state, resume="latest") == (texts_then, 2)


def test_written_over_only_with_a_yes(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[str]:
        await runner.prompt("one")
        shown = [await runner.command_output("/chat save a")]
        await runner.prompt("two")
        shown += [await runner.command_output("/chat save a"), await runner.command_output("/chat save a", choices=[0])]
        await runner.run_command("/clear")
        shown.append(await runner.command_output("/chat load a"))
        await runner.prompt("three")
        shown += [
            await runner.command_output("/chat save a", choices=[1]),
            await runner.command_output("/chat restore a"),
        ]
        return shown

    saved, kept = "Conversation checkpoint saved with tag: a.", "Nothing was saved."
    first = "Where you left off\n> one\n1"
    assert env.run_with(work, script=text_script("1", "2", "3")) == [
        *(saved, kept, kept, first, saved),
        f"{first}\n> three\n3",
    ]


def test_forgotten(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[str]:
        await runner.prompt("one")
        await runner.run_command("/chat save a")
        return [await runner.command_output("/chat delete a"), await runner.command_output("/chat list")]

    told = ["Conversation checkpoint 'a' has been deleted.", "No saved conversation checkpoints found."]
    assert env.run_with(work) == told


def test_without_secrets(env: InteractiveEnv) -> None:
    env.environment["SERVICE_TOKEN"] = "a-secret-of-some-length"

    async def work(runner: InteractiveRunner) -> None:
        await runner.prompt("it is a-secret-of-some-length, or xoxb-1234567890-abcdefghij")
        await runner.run_command("/chat save a")
        await runner.run_command("/chat share a.md")

    env.run_with(work)
    kept = files(env)[0].read_text() + (env.project / "a.md").read_text()
    assert "a-secret-of-some-length" not in kept
    assert "xoxb" not in kept


class TestShare:
    def test_in_markdown(self, env: InteractiveEnv) -> None:
        script = script_answer(say="I look.", calls=[("list_directory", {"path": "${root}"})]) + text_script("Nothing.")

        async def work(runner: InteractiveRunner) -> str:
            await runner.prompt("what is here?")
            return await runner.command_output("/chat share talk.md")

        path = env.project / "talk.md"
        assert env.run_with(work, script=script) == f"Conversation written to {path}"
        text = path.read_text()
        assert text.startswith("## User\n\nwhat is here?\n\n---\n\n## Model\n\nI look.\n\n**Call of list_directory**")
        assert text.endswith("\n\n---\n\n## Model\n\nNothing.\n")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_as_json(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> None:
            await runner.prompt("hi")
            await runner.run_command("/chat share talk.json")

        env.run_with(work)
        assert [message["role"] for message in json.loads((env.project / "talk.json").read_text())] == [
            *("user", "model")
        ]

    def test_with_a_name_of_its_own(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> None:
            await runner.prompt("hi")
            await runner.run_command("/chat share")

        env.run_with(work)
        (path,) = env.project.glob("conversation-*.md")
        assert path.read_text() == "## User\n\nhi\n\n---\n\n## Model\n\nHello there.\n"

    def test_nothing_is_lost_without_a_yes(self, env: InteractiveEnv) -> None:
        path = env.project / "talk.md"
        path.write_text("mine")

        async def work(runner: InteractiveRunner) -> list[str]:
            await runner.prompt("hi")
            return [await runner.command_output("/chat share talk.md"), path.read_text()]

        assert env.run_with(work) == ["Nothing was written.", "mine"]

    def test_no_such_place(self, env: InteractiveEnv) -> None:
        async def work(runner: InteractiveRunner) -> str:
            await runner.prompt("hi")
            return await runner.command_output("/chat share no/where.md")

        assert env.run_with(work) == f"Could not write {env.project}/no/where.md: No such file or directory."


def test_suggestions(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[list[str]]:
        await runner.prompt("hi")
        await runner.run_command("/chat save alpha")
        lines = ("/chat s", "/chat resume a", "/chat list a")
        return [texts(await runner.interactive.commands.suggestions(line)) for line in lines]

    assert env.run_with(work) == [["save", "share"], ["alpha"], []]
