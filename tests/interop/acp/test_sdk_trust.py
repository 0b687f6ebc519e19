"""The official Python package as the client: nothing of a folder starts before the user trusts it."""

import asyncio
import json
import shutil
import sys
from pathlib import Path

import pytest

from support.acp.message_log import Json
from support.acp.scripts import text_topic
from support.acp.sdk_client import Agent, Decide, SdkClient, run_agent
from support.program import ProgramEnv

MCP_SERVER = Path(__file__).parent / "small_server.py"
TRACES = {"hook-ran", "server-started"}


class Folder:
    """A project whose configuration starts a hook and an MCP server, each of which leaves a file behind."""

    def __init__(self, base: Path) -> None:
        self.env = ProgramEnv(base)
        self._traces = base / "traces"
        self._traces.mkdir()
        shutil.copy(MCP_SERVER, self.env.project / "server.py")
        command = [{"type": "command", "command": f"touch {self._traces / 'hook-ran'}"}]
        server = {"command": sys.executable, "args": ["server.py", str(self._traces / "server-started")]}
        self.env.write_project_settings(
            hooks={"SessionStart": [{"hooks": command}], "BeforeAgent": [{"hooks": command}]},
            mcpServers={"own": {**server, "cwd": str(self.env.project)}},
        )
        folder = self.env.project / ".gemini" / "commands"
        folder.mkdir()
        (folder / "greet.toml").write_text('prompt = "Hello?"\n')

    def traces(self) -> set[str]:
        return {path.name for path in self._traces.iterdir()}

    def run(self, decide: Decide, *prompts: str, reasons: tuple[str, ...] = ("end_turn",)) -> Agent:
        """Send prompts in a new session; `decide` answers the question of trust."""

        def answer(request: Json) -> str | None:
            assert self.traces() == set(), "something ran before the answer"
            return decide(request)

        async def main() -> Agent:
            words = ("-m", self.env.script(text_topic("Hello", "Good day.")))
            async with run_agent(self.env, *words, client=SdkClient(answer)) as agent:
                await agent.initialize()
                session = await agent.new_session()
                await asyncio.sleep(1.0)  # long enough for a server to start
                assert self.traces() == set()
                assert agent.log.requests("session/request_permission") == []
                ended = [await agent.prompt(session, prompt) for prompt in prompts]
                assert tuple(ended) == reasons
                if self.traces():
                    await agent.wait_for(lambda: self.traces() == TRACES)
            return agent

        return asyncio.run(main())


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def option(request: Json, word: str) -> str:
    return next(each["optionId"] for each in request["options"] if word in each["name"])


def test_nothing_starts_before_the_yes_and_everything_after_it(folder: Folder) -> None:
    agent = folder.run(lambda request: option(request, "Trust this folder"), "Hello?")
    (asked,) = agent.log.requests("session/request_permission")
    shown = json.dumps(asked)
    assert "hook-ran" in shown
    assert "server.py" in shown
    assert folder.traces() == TRACES
    assert agent.text().endswith("Good day.")
    commands = [each["name"] for each in agent.log.updates("available_commands_update")[-1]["availableCommands"]]
    assert "greet" in commands


def test_the_answer_is_stored(folder: Folder) -> None:
    folder.run(lambda request: option(request, "Trust this folder"), "Hello?")
    assert str(folder.env.project) in folder.env.run("trust", "--list").stdout


def test_the_first_option_that_allows_is_no_trap(folder: Folder) -> None:
    """Clients show the kinds as buttons: refusing must be a refusal."""
    agent = folder.run(lambda request: option(request, "Don't trust"), "Hello?")
    (asked,) = agent.log.requests("session/request_permission")
    kinds = {each["name"].split("(")[0].strip(): each["kind"] for each in asked["options"]}
    assert next(kind for name, kind in kinds.items() if name.startswith("Don't trust")) == "reject_once"


def test_without_trust_the_session_works_and_nothing_starts(folder: Folder) -> None:
    agent = folder.run(lambda request: option(request, "Don't trust"), "Hello?", "Hello?", reasons=("end_turn",) * 2)
    assert len(agent.log.requests("session/request_permission")) == 1
    assert folder.traces() == set()
    assert agent.text().count("Good day.") == 2
    commands = [each["name"] for each in agent.log.updates("available_commands_update")[-1]["availableCommands"]]
    assert "greet" not in commands


def test_a_question_that_is_cancelled_is_asked_again(folder: Folder) -> None:
    agent = folder.run(lambda _: None, "Hello?", "Hello?", reasons=("cancelled", "cancelled"))
    assert len(agent.log.requests("session/request_permission")) == 2
    assert folder.traces() == set()
    assert "Good day." not in agent.text()


def test_an_answer_that_was_not_offered_trusts_nothing(folder: Folder) -> None:
    folder.run(lambda _: "allow", "Hello?", reasons=("cancelled",))
    assert folder.traces() == set()
    assert str(folder.env.project) not in folder.env.run("trust", "--list").stdout
