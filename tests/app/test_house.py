"""What the tools of a session stand on: made when it is needed, closed at the end."""

import asyncio
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

from mcp_links import eventually, living
from program_checks import Machine
from tejat.app.ground import Ground, survey
from tejat.app.house import House, ModelSide, jobs_directory, sandbox_mode, undo_directory
from tejat.core.errors import UsageError
from tejat.core.history import model_message
from tejat.core.model import Ability, Answer, ModelRequest
from tejat.core.sandbox_wish import SandboxWish
from tejat.workspace.processes.program import run_program
from tejat.workspace.workspace import Workspace


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def house(machine: Machine) -> Generator[House]:
    with Workspace([str(machine.project)]) as workspace, House(workspace, look(machine), "off") as house:
        yield house


def look(machine: Machine, settings: str = "{}") -> Ground:
    (machine.home / ".gemini").mkdir(exist_ok=True)
    (machine.home / ".gemini" / "settings.json").write_text(settings)
    return survey([str(machine.project)], environment=machine.environment)


async def answering(_: ModelRequest) -> Answer:
    return Answer(model_message("That."))


class TestSandbox:
    @pytest.mark.parametrize("wish", SandboxWish)
    def test_a_flag_wins_over_the_settings(self, machine: Machine, wish: SandboxWish) -> None:
        assert sandbox_mode(wish.value, look(machine, '{"sandbox": false}').settings) is wish

    @pytest.mark.parametrize(("setting", "found"), [("true", SandboxWish.REQUIRED), ("false", SandboxWish.OFF)])
    def test_without_one_the_settings_count(self, machine: Machine, setting: str, found: SandboxWish) -> None:
        assert sandbox_mode(None, look(machine, f'{{"sandbox": {setting}}}').settings) is found

    def test_whoever_runs_the_machine_has_the_last_word(self, machine: Machine) -> None:
        admin = machine.base / "admin"
        admin.mkdir(mode=0o755)
        (admin / "settings.json").write_text('{"sandbox": true}')
        (admin / "settings.json").chmod(0o644)
        machine.environment["TEJAT_ADMIN_DIRECTORY"] = str(admin)
        assert sandbox_mode("off", look(machine).settings) is SandboxWish.REQUIRED

    def test_a_wish_that_is_none(self, machine: Machine) -> None:
        with pytest.raises(UsageError, match="must be one of auto, required, off, but is 'perhaps'"):
            sandbox_mode("perhaps", look(machine).settings)


class TestHouse:
    def test_nothing_is_made_before_it_is_needed(self, house: House, machine: Machine) -> None:
        assert house.workspace().roots.paths == (str(machine.project),)
        assert not (machine.home / ".local").exists()

    def test_each_part_is_made_once(self, house: House) -> None:
        assert house.shell() is house.shell()
        assert house.undo is house.undo

    def test_a_model_can_be_asked_once_there_is_one(self, house: House) -> None:
        assert (house.web().ask, house.web().abilities(), house.corrector()) == (None, frozenset(), None)
        house.attach(ModelSide(answering, lambda: frozenset({Ability.GOOGLE_SEARCH})))
        web = house.web()
        assert (web.ask, web.abilities()) == (answering, frozenset({Ability.GOOGLE_SEARCH}))
        assert house.corrector() is not None

    def test_no_correction_is_asked_for_where_nobody_wants_it(self, machine: Machine) -> None:
        ground = look(machine, '{"tools": {"disableLLMCorrection": true}}')
        with Workspace([str(machine.project)]) as workspace, House(workspace, ground, "off") as house:
            house.attach(ModelSide(answering, frozenset))
            assert house.corrector() is None

    def test_programs_are_started_by_one_keeper_which_ends_them(self, machine: Machine) -> None:
        pid = machine.base / "pid"
        ground = look(machine)
        arguments = ["/bin/sh", "-c", f"echo $$ > {pid}; exec sleep 600"]

        async def main(house: House) -> None:
            work = run_program(house.keeper, arguments, directory="/", environment={}, seconds=60, most_bytes=100)
            task = asyncio.ensure_future(work)
            await eventually(lambda: pid.exists() and pid.read_text().endswith("\n"))
            house.__exit__()
            with suppress(OSError, asyncio.CancelledError):
                await task

        with Workspace([str(machine.project)]) as workspace, House(workspace, ground, "off") as house:
            assert house.keeper is house.keeper
            asyncio.run(main(house))
        assert living(pid) == []

    def test_what_programs_see_of_the_environment(self, machine: Machine) -> None:
        machine.environment |= {"SERVICE_TOKEN": "secret", "OTHER_TOKEN": "known", "PLAIN": "x"}
        ground = look(machine, '{"tools": {"shell": {"environment": ["OTHER_TOKEN"]}}}')
        with Workspace([str(machine.project)]) as workspace, House(workspace, ground, "off") as house:
            seen = house.child_environment
        names = ("SERVICE_TOKEN", "OTHER_TOKEN", "PLAIN", "LANG")
        assert [seen.get(name) for name in names] == [None, "known", None, "C.UTF-8"]

    def test_a_server_is_fenced_in_or_not_started(self, machine: Machine) -> None:
        ground = look(machine)
        with (
            Workspace([str(machine.project)]) as workspace,
            House(workspace, ground, "off") as house,
            pytest.raises(OSError, match=r"It is to run in a sandbox, and there is none: .*switched off"),
        ):
            house.fence_in(["/bin/cat"], str(machine.project))

    def test_where_things_are_kept(self, machine: Machine) -> None:
        places = look(machine).places
        assert (jobs_directory(places), undo_directory(places)) == (
            f"{machine.home}/.local/state/tejat/jobs",
            f"{machine.home}/.local/state/tejat/undo",
        )
