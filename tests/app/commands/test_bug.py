"""`/bug`."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from support.command_runner import CommandEnv, CommandRunner

ROOT = Path(__file__).parents[3]


def test_a_defect_without_an_address(env: CommandEnv) -> None:
    async def work(runner: CommandRunner) -> tuple[list[str], str]:
        return runner.about_facts(), await runner.output_of("/bug It is too slow")

    known, shown = env.run_with(work)
    report = "\n".join(fact.format(": ") for fact in known)
    assert shown == f"Nothing was sent. Copy this into your report:\nIt is too slow\n\n{report}"


def test_a_defect_with_an_address(env: CommandEnv) -> None:
    env.write_user_settings(bugCommand={"urlTemplate": "https://example.com/new?title={title}&info={info}"})

    async def work(runner: CommandRunner) -> tuple[list[str], str]:
        return runner.about_facts(), await runner.output_of("/bug A & B: {info} ü")

    known, shown = env.run_with(work)
    heading, address = shown.splitlines()
    assert heading == "Nothing was sent. Open this address to file the report:"
    asked = parse_qs(urlsplit(address).query)
    assert asked == {"title": ["A & B: {info} ü"], "info": ["\n".join(fact.format(": ") for fact in known)]}


def test_a_defect_without_words(env: CommandEnv) -> None:
    assert env.output_of("/bug") == "Usage: /bug TITLE"
