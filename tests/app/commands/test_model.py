"""`/model`: another model from now on."""

import json
from pathlib import Path

import pytest

from support.command_runner import texts
from support.interactive import InteractiveEnv, InteractiveRunner
from support.program import script_answer, text_script
from tejat.core.agent.events import ModelChanged


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    return InteractiveEnv(tmp_path)


def test_it_goes_on_with_the_same_conversation(env: InteractiveEnv) -> None:
    other = env.script(text_script("From the other."), "other.toml")

    async def work(runner: InteractiveRunner) -> tuple[str, list[str], list[ModelChanged]]:
        await runner.prompt("one")
        shown = await runner.command_output(f"/model {other}")
        await runner.prompt("two")
        assert runner.interactive.status.model == other
        return shown, runner.texts, runner.events_of(ModelChanged)

    shown, said_then, changed = env.run_with(work)
    assert (shown, said_then) == ("", ["one", "Hello there.", "two", "From the other."])
    assert changed == [ModelChanged(f"scripted:{env.base}/script.toml", other, "You chose it.")]
    assert not (env.home / ".gemini" / "settings.json").exists()


def test_the_next_session_has_it_too(env: InteractiveEnv) -> None:
    other = env.script(text_script("From the other."), "other.toml")

    async def work(runner: InteractiveRunner) -> str:
        await runner.run_command(f"/model {other}")
        await runner.run_command("/clear")
        return (await runner.prompt("hi")).text

    assert env.run_with(work) == "From the other."


def test_for_later_too(env: InteractiveEnv) -> None:
    other = env.script(text_script("From the other."), "other.toml")

    async def work(runner: InteractiveRunner) -> list[str]:
        return (await runner.command_output(f"/model {other} --persist")).splitlines()

    assert env.run_with(work) == [f"model.name is now {other}.", "It counts from the next start on."]
    assert json.loads((env.home / ".gemini" / "settings.json").read_text()) == {"model": {"name": other}}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/model --persist", "Usage: /model [NAME [--persist]]"),
        ("/model one two", "Usage: /model [NAME [--persist]]"),
        ("/model scripted:", "A scripted model needs a file: scripted:FILE"),
    ],
)
def test_what_cannot_be_meant(env: InteractiveEnv, line: str, told: str) -> None:
    async def work(runner: InteractiveRunner) -> tuple[str, str]:
        return await runner.command_output(line), (await runner.prompt("hi")).text

    assert env.run_with(work) == (told, "Hello there.")


@pytest.mark.parametrize("name", ["claude-opus-5", "nobody", "scripted:/does/not/exist"])
def test_one_that_cannot_be_had_leaves_the_old_one(env: InteractiveEnv, name: str) -> None:
    async def work(runner: InteractiveRunner) -> tuple[str, str, list[ModelChanged]]:
        shown = await runner.command_output(f"/model {name} --persist")
        return shown, (await runner.prompt("hi")).text, runner.events_of(ModelChanged)

    shown, text, changed = env.run_with(work)
    assert shown
    assert (text, changed) == ("Hello there.", [])
    assert not (env.home / ".gemini" / "settings.json").exists()


def test_the_present_one(env: InteractiveEnv) -> None:
    name = f"scripted:{env.base}/script.toml"

    async def work(runner: InteractiveRunner) -> str:
        return await runner.command_output(f"/model {name}")

    assert env.run_with(work) == f"{name} answers already."


def test_a_run_that_is_recorded_keeps_its_model(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> str:
        return await runner.command_output("/model gemini-2.5-pro")

    told = "A run that is recorded or played again keeps its model."
    assert env.run_with(work, record=str(env.base / "recording.jsonl")) == told


def test_by_choice_among_those_with_a_key(env: InteractiveEnv) -> None:
    env.environment["GEMINI_API_KEY"] = "a-key-of-a-test"

    async def work(runner: InteractiveRunner) -> tuple[list[str], str]:
        names = texts(await runner.interactive.commands.suggestions("/model "))
        await runner.run_command("/model", choices=[names.index("gemini-2.5-flash")])
        return names, runner.interactive.status.model

    names, model = env.run_with(work)
    assert names[:2] == [f"scripted:{env.base}/script.toml", "gemini-2.5-pro"]
    assert all(name.startswith(("scripted:", "gemini")) for name in names)
    assert model == "gemini-2.5-flash"


def test_by_typing(env: InteractiveEnv) -> None:
    other = env.script(text_script("From the other."), "other.toml")

    async def work(runner: InteractiveRunner) -> str:
        await runner.run_command("/model", choices=[1], entries=[f" {other} "])
        return runner.interactive.status.model

    assert env.run_with(work) == other


def test_who_chooses_nothing_keeps_it(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> list[str]:
        return [await runner.command_output("/model"), await runner.command_output("/model", choices=[1])]

    assert env.run_with(work) == ["", ""]


def test_searching_is_offered_where_the_model_can(env: InteractiveEnv) -> None:
    env.environment["GEMINI_API_KEY"] = "a-key-of-a-test"

    async def work(runner: InteractiveRunner) -> list[bool]:
        registry = runner.interactive.command_context.toolset.registry
        seen = ["google_web_search" in registry]
        await runner.run_command("/model gemini-2.5-flash")
        seen.append("google_web_search" in registry)
        await runner.run_command(f"/model scripted:{env.base}/script.toml")
        return [*seen, "google_web_search" in registry]

    assert env.run_with(work) == [False, True, False]


def test_one_that_fails_later_says_so(env: InteractiveEnv) -> None:
    other = env.script(script_answer(fail="bad_request", detail="No."), "other.toml")

    async def work(runner: InteractiveRunner) -> str:
        await runner.run_command(f"/model {other}")
        return (await runner.prompt("hi")).message

    assert env.run_with(work) == "No."
