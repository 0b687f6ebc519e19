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
from tejat.ui.acp.client import AcpConnection
from tejat.ui.acp.editor_terminals import ClientTerminals
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

    def test_the_editor_shows_output_in_terminals_if_it_has_some_and_the_user_wants_them(
        self, machine: ProgramEnv
    ) -> None:
        terminals = ClientTerminals(AcpConnection([].append), "session-1")
        shown: list[bool] = []
        for settings, editor in (("{}", terminals), ("{}", None), ('{"acp": {"terminals": false}}', terminals)):
            run_config = load_config(machine, settings)
            with Workspace([str(machine.project)]) as workspace, ToolServices(workspace, run_config, "off") as services:
                services.terminals = editor
                shown.append(services.shell().displays is not None)
        assert shown == [True, False, False]

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
