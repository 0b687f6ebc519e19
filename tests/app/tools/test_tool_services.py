"""What the tools of a session stand on: made when it is needed, closed at the end."""

import asyncio
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

from support.mcp.clients import living_pids
from support.program import ProgramEnv
from support.wait import wait_until_async
from tejat.app.run_config import RunConfig, load_run_config
from tejat.app.tools.tool_services import (
    ModelAccess,
    ToolServices,
)
from tejat.core.messages.history import model_message
from tejat.core.model import Capability, ModelRequest, ModelResponse
from tejat.workspace.context import Workspace
from tejat.workspace.processes.program import run_program


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


@pytest.fixture
def services(machine: ProgramEnv) -> Generator[ToolServices]:
    with (
        Workspace([str(machine.project)]) as workspace,
        ToolServices(workspace, load_config(machine), "off") as services,
    ):
        yield services


def load_config(machine: ProgramEnv, settings: str = "{}") -> RunConfig:
    (machine.home / ".gemini").mkdir(exist_ok=True)
    (machine.home / ".gemini" / "settings.json").write_text(settings)
    return load_run_config([str(machine.project)], environment=machine.environment)


async def answering(_: ModelRequest) -> ModelResponse:
    return ModelResponse(model_message("That."))


class TestHouse:
    def test_nothing_is_made_before_it_is_needed(self, services: ToolServices, machine: ProgramEnv) -> None:
        assert services.workspace().roots.paths == (str(machine.project),)
        assert not (machine.home / ".local").exists()

    def test_each_part_is_made_once(self, services: ToolServices) -> None:
        assert services.shell() is services.shell()
        assert services.undo is services.undo

    def test_a_model_can_be_asked_once_there_is_one(self, services: ToolServices) -> None:
        assert (services.web().ask, services.web().capabilities(), services.corrector()) == (None, frozenset(), None)
        services.attach_model(ModelAccess(answering, lambda: frozenset({Capability.GOOGLE_SEARCH})))
        web = services.web()
        assert (web.ask, web.capabilities()) == (answering, frozenset({Capability.GOOGLE_SEARCH}))
        assert services.corrector() is not None

    def test_no_correction_is_asked_for_where_nobody_wants_it(self, machine: ProgramEnv) -> None:
        run_config = load_config(machine, '{"tools": {"disableLLMCorrection": true}}')
        with Workspace([str(machine.project)]) as workspace, ToolServices(workspace, run_config, "off") as services:
            services.attach_model(ModelAccess(answering, frozenset))
            assert services.corrector() is None

    def test_programs_are_started_by_one_keeper_which_ends_them(self, machine: ProgramEnv) -> None:
        pid = machine.base / "pid"
        run_config = load_config(machine)
        arguments = ["/bin/sh", "-c", f"echo $$ > {pid}; exec sleep 600"]

        async def main(services: ToolServices) -> None:
            work = run_program(services.supervisor, arguments, directory="/", environment={}, seconds=60, max_bytes=100)
            task = asyncio.ensure_future(work)
            await wait_until_async(lambda: pid.exists() and pid.read_text().endswith("\n"))
            services.__exit__()
            with suppress(OSError, asyncio.CancelledError):
                await task

        with Workspace([str(machine.project)]) as workspace, ToolServices(workspace, run_config, "off") as services:
            assert services.supervisor is services.supervisor
            asyncio.run(main(services))
        assert living_pids(pid) == []

    def test_what_programs_see_of_the_environment(self, machine: ProgramEnv) -> None:
        machine.environment |= {"SERVICE_TOKEN": "secret", "OTHER_TOKEN": "known", "PLAIN": "x"}
        run_config = load_config(machine, '{"tools": {"shell": {"environment": ["OTHER_TOKEN"]}}}')
        with Workspace([str(machine.project)]) as workspace, ToolServices(workspace, run_config, "off") as services:
            seen = services.child_environment
        names = ("SERVICE_TOKEN", "OTHER_TOKEN", "PLAIN", "LANG")
        assert [seen.get(name) for name in names] == [None, "known", None, "C.UTF-8"]

    def test_a_server_is_fenced_in_or_not_started(self, machine: ProgramEnv) -> None:
        run_config = load_config(machine)
        with (
            Workspace([str(machine.project)]) as workspace,
            ToolServices(workspace, run_config, "off") as services,
            pytest.raises(OSError, match=r"It requires a sandbox, and there is none: .*turned off"),
        ):
            services.wrap_in_sandbox(["/bin/cat"], str(machine.project))


class TestWhatTheModelIsTold:
    @pytest.mark.parametrize(("word", "told"), [("off", ""), ("auto", "a sandbox if one works on this system")])
    def test_before_a_sandbox_is_tried(self, machine: ProgramEnv, word: str, told: str) -> None:
        with (
            Workspace([str(machine.project)]) as workspace,
            ToolServices(workspace, load_config(machine), word) as services,
        ):
            assert services.describe_sandbox() == told

    def test_after_it_was_tried(self, machine: ProgramEnv) -> None:
        for root, told in ((str(machine.project), "a sandbox"), ("/", "")):
            with Workspace([root]) as workspace, ToolServices(workspace, load_config(machine), "auto") as services:
                asyncio.run(services.probe_sandbox())
                if root != "/" and not services.sandbox_name:
                    pytest.skip("SANDBOX MISSING: no sandbox works here")
                assert services.describe_sandbox() == told
