"""The way to the first session of a person without a key, and every wrong turn of it."""

import asyncio
import json
from pathlib import Path

import pytest

from support.model_servers.gemini import LoopbackServer, Received, Reply
from support.program import ProgramEnv
from support.prompter import FakePrompter
from tejat.app.model_source import alias_notes
from tejat.app.onboarding.model import setup_model
from tejat.app.onboarding.trust import StartupExit
from tejat.app.run_config import load_run_config
from tejat.config.credentials import read_api_keys
from tejat.config.paths import app_paths
from tejat.core.agent.options import AgentOptions
from tejat.core.frozen import replace
from tejat.core.ui.prompter import Choice

GEMINI, ANTHROPIC, OPENAI, DEMO, LEAVE = range(5)


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    found = ProgramEnv(tmp_path)
    found.environment["OLLAMA_HOST"] = "127.0.0.1:9"
    return found


@pytest.fixture(autouse=True)
def nothing_on_the_usual_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever listens on the machine that runs the tests."""
    monkeypatch.setattr("tejat.models.discovery.local_servers._DEFAULT_PORTS", {})


def options_of(machine: ProgramEnv) -> AgentOptions:
    return AgentOptions(directories=(str(machine.project),), environment=machine.environment)


class TestModel:
    def settle(
        self, machine: ProgramEnv, *choices: int | None, entries: tuple[str | None, ...] = (), **environment: str
    ) -> tuple[AgentOptions | StartupExit, FakePrompter]:
        machine.environment |= environment
        person = FakePrompter(choices=choices, entries=entries)
        return asyncio.run(setup_model(options_of(machine), person)), person

    def kept(self, machine: ProgramEnv) -> dict[str, str]:
        return read_api_keys(app_paths(machine.environment))

    def settings(self, machine: ProgramEnv, directory: str = ".gemini") -> object:
        path = machine.home / directory / "settings.json"
        return json.loads(path.read_text()) if path.exists() else None

    def test_a_key_is_checked_once_and_kept(self, machine: ProgramEnv) -> None:
        with LoopbackServer(lambda _: Reply((b"{}",))) as server:
            settled, person = self.settle(
                machine, GEMINI, 0, entries=(" AIza-mine ",), GOOGLE_GEMINI_BASE_URL=f"http://127.0.0.1:{server.port}"
            )
        assert len(server.requests) == 1
        assert isinstance(settled, AgentOptions)
        assert settled.model == "auto"
        assert settled.environment is not None
        assert settled.environment["GEMINI_API_KEY"] == "AIza-mine"
        assert self.kept(machine) == {"GEMINI_API_KEY": "AIza-mine"}
        assert self.settings(machine) == {"model": {"name": "auto"}}
        path = machine.home / ".config" / "tejat" / "keys.env"
        assert f"in plain text in {path}, which only you can read" in str(person.asked)
        assert f"Key stored in {path}." in person.output
        assert "AIza-mine" not in person.output + str(person.asked)
        config = load_run_config([str(machine.project)], environment=machine.environment)
        assert config.environment["GEMINI_API_KEY"]
        assert alias_notes(settled.model, config) == ()

    def test_a_key_for_this_session_is_written_nowhere(self, machine: ProgramEnv) -> None:
        with LoopbackServer(lambda _: Reply((b"{}",))) as server:
            address = f"http://127.0.0.1:{server.port}"
            settled, _ = self.settle(machine, ANTHROPIC, 1, entries=("sk-ant",), ANTHROPIC_BASE_URL=address)
        assert isinstance(settled, AgentOptions)
        assert settled.model == "claude-sonnet-5-5"
        assert (self.kept(machine), self.settings(machine)) == ({}, None)
        assert not [path for path in machine.home.rglob("*") if path.is_file()]

    def test_a_key_that_is_refused_is_asked_for_again(self, machine: ProgramEnv) -> None:
        def respond(received: Received) -> Reply:
            return Reply((b"{}",), status=200 if received.headers["authorization"] == "Bearer sk-right" else 401)

        with LoopbackServer(respond) as server:
            settled, person = self.settle(
                machine, OPENAI, 1, entries=("sk-wrong", "sk-right"), OPENAI_BASE_URL=f"http://127.0.0.1:{server.port}"
            )
        assert isinstance(settled, AgentOptions)
        assert "OpenAI rejected the API key (HTTP 401). Try again, or Esc to go back." in person.output
        assert len(server.requests) == 2

    @pytest.mark.parametrize("typed", ["schlüssel", "two words", "a'b", "x" * 501, "a\x1b[2Jb"])
    def test_what_can_be_no_key_is_sent_nowhere(self, machine: ProgramEnv, typed: str) -> None:
        with LoopbackServer(lambda _: Reply((b"{}",))) as server:
            address = f"http://127.0.0.1:{server.port}"
            settled, person = self.settle(machine, GEMINI, LEAVE, entries=(typed, None), GOOGLE_GEMINI_BASE_URL=address)
        assert server.requests == []
        assert settled is StartupExit.QUIT
        assert "Not an API key: it contains invalid characters. Try again." in person.output

    def test_without_a_network_the_key_can_be_used_nevertheless(self, machine: ProgramEnv) -> None:
        settled, person = self.settle(
            machine, GEMINI, 0, 1, entries=("AIza-mine",), GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:9"
        )
        assert isinstance(settled, AgentOptions)
        assert "Could not check the key: Could not connect to 127.0.0.1:9: Connection refused. Use it" in str(
            person.asked
        )

    def test_no_answer_leads_back_to_the_choice(self, machine: ProgramEnv) -> None:
        settled, person = self.settle(machine, GEMINI, DEMO, entries=(None,))
        assert settled is StartupExit.DEMO
        assert [asked.title for asked in person.asked if isinstance(asked, Choice)] == ["Choose a model"] * 2

    def test_who_leaves_leaves(self, machine: ProgramEnv) -> None:
        assert self.settle(machine, None)[0] is StartupExit.QUIT
        assert self.settle(machine, LEAVE)[0] is StartupExit.QUIT

    def test_a_local_model_is_offered_first_and_kept(
        self, machine: ProgramEnv, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with LoopbackServer(lambda _: Reply((b'{"data": [{"id": "qwen3"}]}',))) as server:
            monkeypatch.setattr("tejat.models.discovery.local_servers._DEFAULT_PORTS", {"llama.cpp": server.port})
            settled, person = self.settle(machine, 0, 0)
        address = f"http://127.0.0.1:{server.port}/v1"
        assert isinstance(settled, AgentOptions)
        assert settled.model == "openai:qwen3"
        assert settled.environment is not None
        assert settled.environment["OPENAI_BASE_URL"] == address
        assert self.settings(machine, ".config/tejat") == {"model": {"baseUrl": address, "name": "openai:qwen3"}}
        assert self.settings(machine) is None
        first = person.asked[0]
        assert isinstance(first, Choice)
        assert (first.options[0].label, first.options[0].detail) == (
            "qwen3",
            "local (llama.cpp), no key needed",
        )

    def test_a_local_model_for_this_session_only(self, machine: ProgramEnv) -> None:
        with LoopbackServer(lambda _: Reply((b'{"data": [{"id": "qwen3"}]}',))) as server:
            settled, _ = self.settle(machine, 0, 1, OLLAMA_HOST=f"127.0.0.1:{server.port}")
        assert isinstance(settled, AgentOptions)
        assert (settled.model, self.settings(machine)) == ("ollama:qwen3", None)

    def test_many_local_models_are_offered_by_server(self, machine: ProgramEnv) -> None:
        listed = json.dumps({"data": [{"id": f"model-{number}"} for number in range(7)]}).encode()
        with LoopbackServer(lambda _: Reply((listed,))) as server:
            settled, person = self.settle(machine, 0, None, 0, 3, 1, OLLAMA_HOST=f"127.0.0.1:{server.port}")
        assert isinstance(settled, AgentOptions)
        assert settled.model == "ollama:model-3"
        choices = [asked for asked in person.asked if isinstance(asked, Choice)]
        assert [option.label for option in choices[0].options] == [
            "Ollama: 7 local models",
            "Gemini API key",
            "Anthropic API key",
            "OpenAI API key",
            "Try the demo",
            "Quit",
        ]
        assert len(choices[1].options) == 7

    def test_the_options_fit_a_narrow_terminal(self, machine: ProgramEnv) -> None:
        _, person = self.settle(machine, None)
        (question,) = (asked for asked in person.asked if isinstance(asked, Choice))
        assert max(len(option.label) for option in question.options) <= 40 - len("> 1 ")
        assert question.options[GEMINI].note == "https://aistudio.google.com/apikey"
        assert person.output.startswith("Welcome to Tejat\nNo model configured yet. Enter an API key, or use a local")

    def test_a_configured_model_of_the_same_service_stays(self, machine: ProgramEnv) -> None:
        async def settle(person: FakePrompter, *, model: str | None, configured: str | None) -> AgentOptions:
            options = replace(options_of(machine), model=model)
            settled = await setup_model(options, person, configured=configured)
            assert isinstance(settled, AgentOptions)
            return settled

        with LoopbackServer(lambda _: Reply((b"{}",))) as server:
            machine.environment["GOOGLE_GEMINI_BASE_URL"] = f"http://127.0.0.1:{server.port}"
            for model, configured, expected in (
                (None, "gemini-2.5-flash", None),
                ("gemini-2.5-flash", None, "gemini-2.5-flash"),
                ("claude-sonnet-5-5", None, "auto"),
            ):
                person = FakePrompter(choices=[GEMINI, 1], entries=["AIza-mine"])
                assert asyncio.run(settle(person, model=model, configured=configured)).model == expected
