"""Settings in a file, and what a run does because of them. One test for each setting that no other test observes."""

import asyncio
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from support.model_servers.gemini import ModelServer, text_reply
from support.program import ProgramEnv, text_script
from tejat.app.mcp.server_plan import StartBlockers
from tejat.app.run_config import RunConfig, load_run_config
from tejat.app.session.lifespan import open_agent
from tejat.app.tools.sandbox.options import resolve_sandbox, sandbox_options
from tejat.core.agent.events import Compressed, EndReason
from tejat.core.agent.options import AgentOptions

DAY = 86400


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def load(machine: ProgramEnv, **settings: object) -> RunConfig:
    machine.write_user_settings(**settings)
    return load_run_config([str(machine.project)], environment=machine.environment, trusts_folder=True)


def request(machine: ProgramEnv, prompt: str = "hi", **settings: object) -> str:
    """Everything that the model gets with the first request."""
    machine.write_user_settings(**settings)
    with ModelServer([text_reply("Hello.")]) as server:
        machine.environment |= {"GEMINI_API_KEY": "a-key-of-a-test", "GOOGLE_GEMINI_BASE_URL": server.address}
        run(machine, prompt)
        (received,) = [each for each in server.requests if not each.target.endswith(":countTokens")]
    return str([received.body["systemInstruction"], received.body["contents"]])


def run(machine: ProgramEnv, prompt: str, **more: Any) -> list[object]:
    """The events of a run in a trusted folder."""
    events: list[object] = []
    options = AgentOptions(
        directories=(str(machine.project),), environment=machine.environment, trusts_folder=True, **more
    )

    async def main() -> None:
        async with open_agent(options, None) as session:
            ended = await session.prompt(prompt, events.append)
            assert ended.reason is EndReason.FINISHED, ended

    asyncio.run(main())
    return events


class TestContext:
    def test_file_name(self, machine: ProgramEnv) -> None:
        write(machine.project / "NOTES.md", "Speak of herons.")
        write(machine.project / "GEMINI.md", "Speak of storks.")
        seen = request(machine, context={"fileName": "NOTES.md"})
        assert ("herons" in seen, "storks" in seen) == (True, False)
        seen = request(machine, context={"fileName": ["NOTES.md", "GEMINI.md"]})
        assert ("herons" in seen, "storks" in seen) == (True, True)

    @pytest.mark.parametrize(("form", "order"), [("tree", "one two three"), ("flat", "one three two")])
    def test_import_format(self, machine: ProgramEnv, form: str, order: str) -> None:
        write(machine.project / "GEMINI.md", "mark-one\n@./part.md\nmark-three\n")
        write(machine.project / "part.md", "mark-two\n")
        seen = request(machine, context={"importFormat": form})
        assert sorted(order.split(), key=lambda word: seen.rindex(f"mark-{word}")) == order.split()

    def test_discovery_max_dirs(self, machine: ProgramEnv) -> None:
        write(machine.project / "a" / "GEMINI.md", "Speak of herons.")
        write(machine.project / "a" / "b" / "c" / "GEMINI.md", "Speak of storks.")
        assert "storks" in request(machine)
        assert "storks" not in request(machine, context={"discoveryMaxDirs": 2})

    def test_respect_git_ignore(self, machine: ProgramEnv) -> None:
        (machine.project / ".git").mkdir()
        write(machine.project / ".gitignore", "*.heron\n")
        write(machine.project / "one.heron", "")
        assert "one.heron" not in request(machine)
        assert "one.heron" in request(machine, context={"fileFiltering": {"respectGitIgnore": False}})

    def test_enable_recursive_file_search(self, machine: ProgramEnv) -> None:
        write(machine.project / "deep" / "down" / "bird.txt", "It is a heron.")
        assert "It is a heron." in request(machine, "What is in @bird.txt?")
        settings = {"fileFiltering": {"enableRecursiveFileSearch": "false"}}
        assert "It is a heron." not in request(machine, "What is in @bird.txt?", context=settings)

    def test_excluded_env_vars(self, machine: ProgramEnv) -> None:
        write(machine.project / ".env", "LOG_LEVEL=loud\nDEBUG=1\nCI=true\n")
        found = {name: load(machine).environment.get(name) for name in ("LOG_LEVEL", "DEBUG", "CI")}
        assert found == {"LOG_LEVEL": "loud", "DEBUG": None, "CI": "true"}
        config = load(machine, advanced={"excludedEnvVars": ["LOG_LEVEL"]})
        assert {name: config.environment.get(name) for name in found} == {
            "LOG_LEVEL": None,
            "DEBUG": None,
            "CI": "true",
        }


class TestSessions:
    def old_sessions(self, machine: ProgramEnv, **settings: object) -> list[int]:
        """The ages of earlier sessions that are left, in days."""
        model = machine.script(text_script("Hello."))
        for _ in range(2):
            run(machine, "hi", model=model)
        for path, age in zip(self.journals(machine), (3, 40), strict=True):
            os.utime(path, (0, time.time() - age * DAY))
        (self.directory(machine) / "tidied").unlink()  # otherwise that happens once an hour
        machine.write_user_settings(**settings)
        run(machine, "hi", model=model)
        ages = sorted(round((time.time() - path.stat().st_mtime) / DAY) for path in self.journals(machine))
        return [age for age in ages if age]

    def directory(self, machine: ProgramEnv) -> Path:
        return machine.home / ".local" / "state" / "tejat" / "sessions"

    def journals(self, machine: ProgramEnv) -> list[Path]:
        return list(self.directory(machine).rglob("*.jsonl"))

    @pytest.mark.parametrize(
        ("retention", "left"),
        [
            ({"enabled": True, "maxAge": "2d"}, []),
            ({"maxAge": "1w"}, [3]),
            ({"enabled": True}, [3]),
            ({"enabled": "false", "maxAge": "2d"}, [3, 40]),
        ],
    )
    def test_retention(self, machine: ProgramEnv, retention: Mapping[str, object], left: list[int]) -> None:
        assert self.old_sessions(machine, general={"sessionRetention": retention}) == left

    @pytest.mark.parametrize(("threshold", "is_compressed"), [("0", True), (1, False)])
    def test_compression_threshold(self, machine: ProgramEnv, threshold: object, is_compressed: bool) -> None:
        machine.write_user_settings(model={"compressionThreshold": threshold})
        script = text_script("Hello.", "<state_snapshot>All said.</state_snapshot>", "Bye.")
        events: list[object] = []
        options = AgentOptions(
            directories=(str(machine.project),), environment=machine.environment, model=machine.script(script)
        )

        async def main() -> None:
            async with open_agent(options, None) as session:
                for prompt in ("word " * 2000, "and again"):
                    await session.prompt(prompt, events.append)

        asyncio.run(main())
        assert any(isinstance(event, Compressed) for event in events) is is_compressed


class TestServers:
    SERVERS: Mapping[str, object] = {name: {"command": "true"} for name in ("one", "two", "three")}

    def started(self, machine: ProgramEnv, **lists: object) -> list[str]:
        blockers = StartBlockers(load(machine, mcpServers=self.SERVERS, mcp=lists))
        return [name for name in self.SERVERS if blockers.find(name) is None]

    def test_allowed(self, machine: ProgramEnv) -> None:
        assert self.started(machine) == ["one", "two", "three"]
        assert self.started(machine, allowed=["two", "one"]) == ["one", "two"]
        machine.own_file.parent.mkdir(parents=True)
        machine.own_file.write_text('{"mcp": {"allowed": ["two", "three"]}}')
        assert self.started(machine, allowed=["two", "one"]) == ["two"]

    def test_excluded(self, machine: ProgramEnv) -> None:
        machine.write_project_settings(mcp={"excluded": ["three"]})
        assert self.started(machine, excluded=["one"]) == ["two"]


@pytest.mark.parametrize(
    ("user", "project", "network"),
    [(None, None, False), (True, None, True), (True, False, False), (None, True, False), ("true", True, True)],
)
def test_sandbox_network_access(machine: ProgramEnv, user: object, project: object, network: bool) -> None:
    machine.write_project_settings(tools={"sandboxNetworkAccess": project})
    config = load(machine, tools={"sandboxNetworkAccess": user})
    assert sandbox_options(config, resolve_sandbox(None, config.settings)).network is network
