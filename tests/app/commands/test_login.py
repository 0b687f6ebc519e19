"""`/login`."""

from pathlib import Path

import pytest

from support.command_runner import CommandEnv, CommandRunner
from support.model_servers.gemini import LoopbackServer, Received, Reply
from support.prompter import FakePrompter
from tejat.config.credentials import read_api_keys
from tejat.config.credentials_writer import save_api_key
from tejat.config.paths import app_paths

OLD, NEW = "AIza-old-key-0123456789", "AIza-new-key-0123456789"
USAGE = "Usage: /login [gemini | anthropic | openai | remove]"
STORE, SESSION_ONLY = 0, 1


def respond(received: Received) -> Reply:
    return Reply((b"{}",), status=200 if received.headers.get("x-goog-api-key") == NEW else 401)


def stored(env: CommandEnv) -> dict[str, str]:
    return read_api_keys(app_paths(env.environment))


@pytest.fixture
def keys_file(env: CommandEnv) -> Path:
    return env.home / ".config" / "tejat" / "keys.env"


def run(env: CommandEnv, line: str, person: FakePrompter, **more: object) -> tuple[str, dict[str, str]]:
    """The output of a line, and the environment of the session after it, with a server that accepts the new key."""

    async def work(runner: CommandRunner) -> tuple[str, dict[str, str]]:
        await runner.run(line)
        return runner.prompter.output, dict(runner.parts.run_config.environment)

    with LoopbackServer(respond) as server:
        env.environment["GOOGLE_GEMINI_BASE_URL"] = f"http://127.0.0.1:{server.port}"
        return env.run_with(work, prompter=person, **more)


class TestAdd:
    def test_a_key_for_the_model_in_use(self, env: CommandEnv, keys_file: Path) -> None:
        save_api_key(app_paths(env.environment), "GEMINI_API_KEY", OLD)
        person = FakePrompter(choices=[0, STORE], entries=[NEW])
        shown, environment = run(env, "/login", person, model="gemini-2.5-pro")
        assert shown.splitlines() == [
            "Checking the key...",
            "The key works.",
            f"Key stored in {keys_file}.",
            "Using the new key for gemini-2.5-pro.",
        ]
        assert environment["GEMINI_API_KEY"] == NEW
        assert stored(env) == {"GEMINI_API_KEY": NEW}
        assert NEW not in shown + str(person.asked)
        assert "key in ~/.config/tejat/keys.env" in str(person.asked[0])

    def test_a_key_of_another_service(self, env: CommandEnv) -> None:
        shown, environment = run(env, "/auth gemini", FakePrompter(choices=[SESSION_ONLY], entries=[NEW]))
        model = f"scripted:{env.base}/script.toml"
        assert shown.splitlines()[2:] == [f"Still using {model}.", "Use /model to switch to a model of this service."]
        assert environment["GEMINI_API_KEY"] == NEW
        assert stored(env) == {}

    def test_a_rejected_key_is_asked_for_again(self, env: CommandEnv) -> None:
        person = FakePrompter(choices=[SESSION_ONLY], entries=[OLD, NEW])
        shown, _ = run(env, "/login gemini", person)
        assert "Gemini rejected the API key (HTTP 401). Try again, or Esc to go back." in shown

    def test_the_environment_takes_precedence_later(self, env: CommandEnv) -> None:
        env.environment["GEMINI_API_KEY"] = OLD
        person = FakePrompter(choices=[STORE], entries=[NEW])
        shown, environment = run(env, "/login gemini", person, model="gemini-2.5-pro")
        assert "$GEMINI_API_KEY is set in your environment and takes precedence at the next start. Unset it." in shown
        assert environment["GEMINI_API_KEY"] == NEW

    @pytest.mark.parametrize(
        "person",
        [
            FakePrompter(entries=[None]),
            FakePrompter(entries=[NEW], choices=[None]),
        ],
    )
    def test_cancelled(self, env: CommandEnv, person: FakePrompter) -> None:
        shown, environment = run(env, "/login gemini", person)
        assert shown.endswith("Nothing was changed.")
        assert "GEMINI_API_KEY" not in environment

    def test_results_are_masked_from_then_on(self, env: CommandEnv) -> None:
        async def work(runner: CommandRunner) -> str:
            await runner.run("/login gemini")
            mask = runner.parts.toolset.start_scheduler().mask
            assert mask is not None
            return mask.mask_text(f"It is {NEW}.")

        with LoopbackServer(respond) as server:
            env.environment["GOOGLE_GEMINI_BASE_URL"] = f"http://127.0.0.1:{server.port}"
            masked = env.run_with(work, prompter=FakePrompter(choices=[SESSION_ONLY], entries=[NEW]))
        assert masked == "It is [the secret GEMINI_API_KEY]."


class TestRemove:
    def test_a_stored_key(self, env: CommandEnv, keys_file: Path) -> None:
        save_api_key(app_paths(env.environment), "GEMINI_API_KEY", OLD)
        shown, _ = run(env, "/login remove", FakePrompter(choices=[0]))
        assert shown == f"Deleted GEMINI_API_KEY from {keys_file}.\nThis session keeps using it until you quit."
        assert stored(env) == {}

    @pytest.mark.parametrize("answer", [1, None])
    def test_not_without_a_yes(self, env: CommandEnv, answer: int | None) -> None:
        save_api_key(app_paths(env.environment), "GEMINI_API_KEY", OLD)
        assert run(env, "/auth signout", FakePrompter(choices=[answer]))[0] == "Nothing was changed."
        assert stored(env) == {"GEMINI_API_KEY": OLD}

    def test_none(self, env: CommandEnv) -> None:
        assert env.output_of("/login remove") == "No keys are stored in ~/.config/tejat/keys.env."


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("/login nobody", f"Unknown service nobody.\n{USAGE}"),
        ("/login vertex", "vertex has no single API key. Set its environment variables: see /docs models."),
        (
            f"/login gemini {OLD}",
            f"Do not type a key after /login. You are asked for it, and it stays hidden.\n{USAGE}",
        ),
    ],
)
def test_wrong_arguments(env: CommandEnv, line: str, text: str) -> None:
    assert env.output_of(line) == text
