"""`/model`: another model from now on."""

import json
from pathlib import Path

import pytest

from support.command_runner import texts
from support.interactive import InteractiveEnv, InteractiveRunner
from support.model_servers.gemini import LoopbackServer, Received, Reply, json_reply
from support.program import script_answer, text_script
from support.prompter import FakePrompter
from tejat.core.agent.events import ModelChanged
from tejat.core.ui.prompter import Choice


@pytest.fixture
def env(tmp_path: Path) -> InteractiveEnv:
    env = InteractiveEnv(tmp_path)
    env.environment["OLLAMA_HOST"] = "127.0.0.1:9"
    return env


def test_it_goes_on_with_the_same_conversation(env: InteractiveEnv) -> None:
    other = env.script(text_script("From the other."), "other.toml")

    async def work(runner: InteractiveRunner) -> tuple[str, list[str], list[ModelChanged]]:
        await runner.prompt("one")
        shown = await runner.command_output(f"/model {other}")
        await runner.prompt("two")
        assert runner.session.conversation.model.name == other
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

    assert env.run_with(work) == [
        f"model.name is now {other}.",
        f"Saved in {env.own_file}.",
        "Takes effect at the next start.",
    ]
    assert env.saved_settings(own=True) == {"model": {"name": other}}
    assert not env.user_file.exists()


def test_the_address_of_another_service_is_forgotten(env: InteractiveEnv) -> None:
    address = "http://127.0.0.1:9/v1"
    env.own_file.parent.mkdir(parents=True)
    env.own_file.write_text(json.dumps({"model": {"name": "openai:qwen3", "baseUrl": address}}))
    other = env.script(text_script("From the other."), "other.toml")

    async def work(runner: InteractiveRunner) -> str:
        return await runner.command_output(f"/model {other} --persist")

    assert "Removed model.baseUrl, the address of openai:qwen3." in env.run_with(work)
    assert env.saved_settings(own=True) == {"model": {"name": other}}


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

    assert env.run_with(work) == f"Already using {name}."


def test_a_run_that_is_recorded_keeps_its_model(env: InteractiveEnv) -> None:
    async def work(runner: InteractiveRunner) -> str:
        return await runner.command_output("/model gemini-2.5-pro")

    told = "Cannot change the model while a run is recorded or replayed."
    assert env.run_with(work, record=str(env.base / "recording.jsonl")) == told


def options_of(person: FakePrompter) -> list[tuple[str, str]]:
    (asked,) = person.asked
    assert isinstance(asked, Choice)
    return [(option.label, option.detail) for option in asked.options]


def models_of_gemini(_: Received) -> Reply:
    listed = [
        {
            "name": "models/gemini-3.8-flash",
            "inputTokenLimit": 1048576,
            "supportedGenerationMethods": ["generateContent"],
        },
        {"name": "models/gemini-brand-new", "inputTokenLimit": 50000},
        {"name": "models/gemma-4-31b-it"},
        {"name": "models/gemini-embedding-001", "supportedGenerationMethods": ["embedContent"]},
    ]
    return json_reply({"models": listed})


def test_by_choice_among_what_the_service_offers(env: InteractiveEnv) -> None:
    with LoopbackServer(models_of_gemini) as server:
        env.environment |= {"GEMINI_API_KEY": "a-key-of-a-test", "GOOGLE_GEMINI_BASE_URL": server.address}

        async def work(runner: InteractiveRunner) -> tuple[list[tuple[str, str]], str]:
            person = FakePrompter(choices=[3])
            await runner.interactive.commands.run("/model", person)
            return options_of(person), runner.interactive.status.model

        offered, model = env.run_with(work)
    assert offered == [
        (f"scripted:{env.base}/script.toml", "current"),
        ("flash", "alias of gemini-3.8-flash"),
        ("gemini-3.8-flash", f"1M context, {offered[2][1].partition(', ')[2]}"),
        ("gemini-brand-new", "50k context"),
        ("gemma-4-31b-it", "256k context, free"),
        ("Another model", "enter its name"),
    ]
    assert model == "gemini-brand-new"
    assert [request.target for request in server.requests] == ["/v1beta/models?pageSize=1000"]


def test_the_catalogue_is_shown_if_the_service_does_not_answer(env: InteractiveEnv) -> None:
    env.write_user_settings(experimental={"gemma": False})
    env.environment |= {"GEMINI_API_KEY": "a-key-of-a-test", "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9"}

    async def work(runner: InteractiveRunner) -> tuple[str, list[str], list[str]]:
        person = FakePrompter()
        await runner.interactive.commands.run("/model", person)
        suggested = texts(await runner.interactive.commands.suggestions("/model "))
        return person.output, [label for label, _ in options_of(person)], suggested

    shown, labels, suggested = env.run_with(work)
    assert "gemini did not list its models. Could not connect to 127.0.0.1:9" in shown
    assert "gemini-3.8-flash" in labels
    assert not [name for name in labels if name.startswith("gemma")]
    assert {"auto", "pro", "flash", "flash-lite", "gemini-3.8-flash"} <= set(suggested)


@pytest.mark.parametrize(("answer", "changed"), [(0, True), (1, True), (2, False), (None, False)])
def test_a_cost_limit_and_an_unknown_price(env: InteractiveEnv, answer: int | None, changed: bool) -> None:
    env.environment["OPENAI_BASE_URL"] = "http://127.0.0.1:9/v1"

    async def work(runner: InteractiveRunner) -> str:
        await runner.run_command("/model mystery", choices=[answer])
        return runner.session.conversation.model.name

    assert (env.run_with(work, max_cost=1.0) == "mystery") is changed


def test_an_alias_is_told_once(env: InteractiveEnv) -> None:
    env.environment["GEMINI_API_KEY"] = "a-key-of-a-test"

    async def work(runner: InteractiveRunner) -> list[str]:
        lines = ("/model flash", "/model pro", "/model flash")
        return [await runner.command_output(line) for line in lines]

    assert env.run_with(work) == [
        "flash is an alias of gemini-3.8-flash.",
        "pro is an alias of gemini-3.1-pro-preview.",
        "",
    ]


def test_by_typing(env: InteractiveEnv) -> None:
    other = env.script(text_script("From the other."), "other.toml")

    async def work(runner: InteractiveRunner) -> str:
        await runner.run_command("/model", choices=[1], entries=[f" {other} "])
        return runner.session.conversation.model.name

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
