"""A session looks at a large project while it waits for the model or the user, if a command may come."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.program import ProgramEnv, text_script
from support.wait import wait_until_async
from tejat.app.session.lifespan import open_session_manager
from tejat.core.agent.options import AgentOptions
from tejat.core.frozen import replace

FILES = 1500
HELLO = text_script("Hello there.")


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    machine = ProgramEnv(tmp_path)
    make_files(machine.project, FILES)
    return machine


def make_files(directory: Path, count: int) -> None:
    directory.mkdir(exist_ok=True)
    for number in range(count):
        (directory / f"f{number}").write_text(str(number))


def stored_bytes(machine: ProgramEnv) -> int:
    return sum(path.stat().st_size for path in (machine.home / ".local/state/tejat/undo").rglob("pack-*"))


def is_stored(machine: ProgramEnv, *, interactive: bool = True, seconds: float = 1.5, **more: Any) -> bool:
    """Whether a session that runs no command stores the contents of the project."""
    known = AgentOptions((str(machine.project),), model=machine.script(HELLO), environment=machine.environment)

    async def main() -> bool:
        async with open_session_manager(replace(known, **more), interactive=interactive) as manager:
            await manager.session.prompt("hi")
            return await becomes_true(lambda: stored_bytes(machine) > FILES * 44, seconds)

    return asyncio.run(main())


async def becomes_true(condition: Callable[[], bool], seconds: float) -> bool:
    try:
        await wait_until_async(condition, seconds)
    except TimeoutError:
        return False
    return True


@pytest.mark.parametrize(("interactive", "mode"), [(True, "default"), (False, "yolo")])
def test_a_large_project(machine: ProgramEnv, mode: str, *, interactive: bool) -> None:
    assert is_stored(machine, interactive=interactive, mode=mode, seconds=20)


def test_a_run_that_refuses_most_commands(machine: ProgramEnv) -> None:
    assert not is_stored(machine, interactive=False, mode="default")


@pytest.mark.parametrize("interactive", [True, False])
def test_a_session_without_a_prompt(machine: ProgramEnv, *, interactive: bool) -> None:
    known = AgentOptions(
        (str(machine.project),), model=machine.script(HELLO), environment=machine.environment, mode="yolo"
    )

    async def main() -> None:
        async with open_session_manager(known, interactive=interactive):
            await asyncio.sleep(1)

    asyncio.run(main())
    assert not (machine.home / ".local/state/tejat/undo").exists()


def test_a_short_run_has_ended_before(machine: ProgramEnv) -> None:
    assert machine.run("-p", "hi", "--yolo", "-m", machine.script(HELLO)).code == 0
    assert not (machine.home / ".local/state/tejat/undo").exists()


def test_plan_mode(machine: ProgramEnv) -> None:
    assert not is_stored(machine, mode="plan")


def test_no_shell(machine: ProgramEnv) -> None:
    machine.write_user_settings(tools={"exclude": ["run_shell_command"]})
    assert not is_stored(machine)


def test_an_untrusted_folder(machine: ProgramEnv) -> None:
    machine.write_user_settings(security={"folderTrust": {"enabled": True}})
    (machine.project / "GEMINI.md").write_text("Be brief.\n")
    trusted = machine.home / ".gemini" / "trustedFolders.json"
    trusted.write_text(json.dumps({str(machine.project): "DO_NOT_TRUST"}))
    assert not is_stored(machine)


def test_a_small_project(tmp_path: Path) -> None:
    machine = ProgramEnv(tmp_path)
    make_files(machine.project, 100)
    make_files(machine.project / "node_modules", FILES)
    assert not is_stored(machine)
    assert not (machine.home / ".local/state/tejat/undo").exists()


def test_a_home_directory_is_no_project(machine: ProgramEnv) -> None:
    make_files(machine.home / "files", FILES)
    assert not is_stored(machine, directories=(str(machine.home),))
