"""`/about`, `/bug` and `/docs`."""

import platform
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from support.command_runner import HELLO, CommandEnv, CommandRunner
from tejat import __version__

ROOT = Path(__file__).parents[3]


@pytest.fixture
def env(tmp_path: Path) -> CommandEnv:
    return CommandEnv(tmp_path)


async def facts(runner: CommandRunner) -> list[str]:
    return [
        f"Tejat{{}}{__version__}",
        f"Python{{}}{platform.python_version()}",
        f"System{{}}{platform.system()} {platform.release()} {platform.machine()}",
        f"Model{{}}{runner.parts.session.conversation.model.name}",
        "Mode{}default",
        "Sandbox{}off",
        f"Session{{}}{runner.parts.session.session_id}",
    ]


def test_about(env: CommandEnv) -> None:
    env.environment["GEMINI_API_KEY"] = "a-key-of-a-test"
    env.write_user_settings(model={"name": "a-model-that-is-not-asked"})

    async def work(runner: CommandRunner) -> tuple[list[str], list[str]]:
        return await facts(runner), (await runner.output_of("/about")).splitlines()

    known, lines = env.run_with(work)
    assert lines[:9] == ["About Tejat", *(fact.format("  ") for fact in known), "What it goes by"]
    assert lines[9:11] == [f"model: name  {env.script(HELLO)} (asked now)", "model: key  none is needed"]
    assert f"files: settings  {env.home / '.gemini' / 'settings.json'}" in lines
    assert "a-key-of-a-test" not in "\n".join(lines)


def test_a_defect_without_an_address(env: CommandEnv) -> None:
    async def work(runner: CommandRunner) -> tuple[list[str], str]:
        return await facts(runner), await runner.output_of("/bug It is too slow")

    known, shown = env.run_with(work)
    report = "\n".join(fact.format(": ") for fact in known)
    assert shown == f"Nothing was sent. Put this into your report:\nIt is too slow\n\n{report}"


def test_a_defect_with_an_address(env: CommandEnv) -> None:
    env.write_user_settings(bugCommand={"urlTemplate": "https://example.com/new?title={title}&info={info}"})

    async def work(runner: CommandRunner) -> tuple[list[str], str]:
        return await facts(runner), await runner.output_of("/bug A & B: {info} ü")

    known, shown = env.run_with(work)
    heading, address = shown.splitlines()
    assert heading == "Nothing was sent. Open this address to report it:"
    asked = parse_qs(urlsplit(address).query)
    assert asked == {"title": ["A & B: {info} ü"], "info": ["\n".join(fact.format(": ") for fact in known)]}


def test_a_defect_without_words(env: CommandEnv) -> None:
    assert env.output_of("/bug") == "Usage: /bug TITLE"


def test_every_page_of_the_documentation(env: CommandEnv) -> None:
    lines = env.output_of("/docs").splitlines()
    assert lines[:2] == ["Documentation", "The documentation is in the directory docs of the source code:"]
    assert all((ROOT / "docs" / line.split("  ")[0]).is_file() for line in lines[2:])
