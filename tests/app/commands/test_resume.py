"""`/resume`: an earlier session of the project."""

import json
from pathlib import Path

import pytest

from support.command_runner import texts
from support.interactive import InteractiveEnv, InteractiveRunner
from support.program import text_script
from support.prompter import FakePrompter
from tejat.core.agent.events import SessionStarted
from tejat.core.ui.prompter import Choice


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    return InteractiveEnv(tmp_path)


def earlier(env: InteractiveEnv, *prompts: str) -> str:
    """A session that is over; its id."""

    async def work(runner: InteractiveRunner) -> str:
        for prompt in prompts:
            await runner.prompt(prompt)
        return runner.session.session_id

    return env.run_with(work, script=text_script(*(f"About {prompt}." for prompt in prompts)))


@pytest.mark.parametrize("word", ["latest", "1", "the id", "its beginning"])
def test_by_a_word(env: InteractiveEnv, word: str) -> None:
    session_id = earlier(env, "apples", "pears")
    meant = {"the id": session_id, "its beginning": session_id[:6]}.get(word, word)

    async def work(runner: InteractiveRunner) -> tuple[str, list[str], list[str]]:
        await runner.prompt("something else")
        shown = await runner.command_output(f"/resume {meant}")
        await runner.prompt("and then?")
        return shown, runner.texts, [event.session_id for event in runner.events_of(SessionStarted) if event.is_resumed]

    shown, said_then, resumed = env.run_with(work, script=text_script("Hm.", "Then."))
    assert shown == "Where you left off\n> apples\nAbout apples.\n> pears\nAbout pears."
    assert said_then == ["apples", "About apples.", "pears", "About pears.", "and then?", "Then."]
    assert resumed == [session_id]
    (kept,) = [path for path in env.journal_paths() if session_id in path.read_text()]
    assert [json.loads(line)["kind"] for line in kept.read_text().splitlines()][-5:] == [
        *("resumed", "prompt", "answer", "ended", "run")
    ]


def test_by_choice(env: InteractiveEnv) -> None:
    earlier(env, "apples")
    earlier(env, "pears")

    async def work(runner: InteractiveRunner) -> tuple[list[str], str]:
        await runner.prompt("here")
        person = FakePrompter(choices=[1])
        await runner.interactive.commands.run("/resume", person)
        (asked,) = person.asked
        assert isinstance(asked, Choice)
        assert asked.title == "Choose a session to resume"
        return [option.label for option in asked.options], person.output

    labels, shown = env.run_with(work, script=text_script("Hm."))
    assert labels == ["pears", "apples"]
    assert shown == "Where you left off\n> apples\nAbout apples."


def test_who_chooses_nothing_stays(env: InteractiveEnv) -> None:
    earlier(env, "apples")

    async def work(runner: InteractiveRunner) -> tuple[bool, str]:
        before = runner.session
        return before is runner.session, await runner.command_output("/resume", choices=[None])

    assert env.run_with(work) == (True, "")


@pytest.mark.parametrize("line", ["/resume", "/resume latest"])
def test_where_there_is_none(env: InteractiveEnv, line: str) -> None:
    async def work(runner: InteractiveRunner) -> str:
        await runner.prompt("here")
        return await runner.command_output(line)

    assert env.run_with(work) == "No other sessions in this project."


def test_the_own_one(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> str:
        await runner.prompt("here")
        return await runner.command_output(f"/resume {runner.session.session_id}")

    assert env.run_with(work) == "This is the current session."


def test_an_unknown_one(env: InteractiveEnv) -> None:
    session_id = earlier(env, "apples")

    async def work(runner: InteractiveRunner) -> tuple[str, list[str]]:
        await runner.prompt("here")
        return await runner.command_output("/resume nonsense"), runner.texts

    shown, kept = env.run_with(work)
    assert shown.startswith("No session 'nonsense' in this project. Sessions: ")
    assert f"{session_id} (number 1)" in shown
    assert kept == ["here", "Hello there."]


def test_one_that_is_in_use_elsewhere(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> str:
        await runner.prompt("here")
        async with env.open_runner() as other:
            return await other.command_output("/resume latest")

    shown = env.run_with(work)
    assert shown.startswith("Cannot open session ")
    assert shown.endswith(" it is open in another process.")


def test_long_talks_are_cut(env: InteractiveEnv) -> None:
    earlier(env, *(f"question {number}" for number in range(6)))

    async def work(runner: InteractiveRunner) -> list[str]:
        return (await runner.command_output("/resume latest")).splitlines()

    lines = env.run_with(work)
    assert lines[:3] == ["Where you left off", "… 6 earlier messages", "> question 3"]
    assert lines[-1] == "About question 5."


def test_suggestions(env: InteractiveEnv) -> None:
    session_id = earlier(env, "apples")

    async def work(runner: InteractiveRunner) -> list[str]:
        return texts(await runner.interactive.commands.suggestions("/resume "))

    assert env.run_with(work) == ["latest", session_id]
