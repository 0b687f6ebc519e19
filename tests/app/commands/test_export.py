"""`/export`."""

import json
import re

import pytest

from support.command_runner import CommandEnv, CommandRunner
from support.prompter import FakePrompter

KEY = "AIzaSyA-this-is-a-key-of-mine-123456789"


async def talk(runner: CommandRunner, line: str) -> str:
    await runner.prompt(f"My key is {KEY}.")
    return await runner.output_of(line)


def export(env: CommandEnv, line: str, **more: object) -> str:
    async def work(runner: CommandRunner) -> str:
        return await talk(runner, line)

    return env.run_with(work, **more)


def test_markdown_without_secrets(env: CommandEnv) -> None:
    env.environment["GEMINI_API_KEY"] = KEY
    assert export(env, "/export talk.md") == f"Conversation written to {env.project}/talk.md"
    path = env.project / "talk.md"
    assert path.read_text().startswith("## User\n\nMy key is [")
    assert KEY not in path.read_text()
    assert path.read_text().endswith("## Model\n\nHello there.\n")
    assert path.stat().st_mode & 0o777 == 0o600


def test_json(env: CommandEnv) -> None:
    shown = export(env, "/export json")
    path = env.project / shown.rpartition("/")[2]
    assert re.fullmatch(r"conversation-\d{4}-\d\d-\d\d-\d{6}\.json", path.name)
    assert [message["role"] for message in json.loads(path.read_text())] == ["user", "model"]


def test_without_a_name(env: CommandEnv) -> None:
    assert re.fullmatch(rf"Conversation written to {env.project}/conversation-[\d-]+\.md", export(env, "/export"))
    assert export(env, "/export-session ~/a.md") == f"Conversation written to {env.home}/a.md"


@pytest.mark.parametrize(("answer", "text"), [(0, "Nothing was written."), (None, "Nothing was written."), (1, "")])
def test_an_existing_file_is_overwritten_only_after_a_yes(env: CommandEnv, answer: int | None, text: str) -> None:
    path = env.project / "talk.md"
    path.write_text("mine")
    person = FakePrompter(choices=[answer])
    assert export(env, "/export talk.md", prompter=person) == (text or f"Conversation written to {path}")
    assert (path.read_text() == "mine") is (answer != 1)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "/export talk.html",
            "Use `tejat export latest talk.html` for HTML, or a name that ends with .md or .json.",
        ),
        ("/export talk.pdf", "Invalid file format. Only .md and .json are supported."),
        ("/export folder.md", "{project}/folder.md is a directory."),
        ("/export no/where.md", "Could not write {project}/no/where.md: No such file or directory."),
    ],
)
def test_what_cannot_be_written(env: CommandEnv, line: str, text: str) -> None:
    (env.project / "folder.md").mkdir()
    assert export(env, line) == text.format(project=env.project)


def test_an_empty_conversation(env: CommandEnv) -> None:
    assert env.output_of("/export") == "The conversation is empty: nothing to export."
