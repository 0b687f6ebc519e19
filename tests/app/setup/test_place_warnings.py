import os
from pathlib import Path

import pytest

from support.program import ProgramEnv
from tejat.app.run_config import RunConfig, load_run_config
from tejat.app.setup.place_warnings import place_warnings


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def load(machine: ProgramEnv, directory: str | None = None) -> RunConfig:
    state = machine.home / ".local" / "state" / "tejat"
    if directory is not None:
        state.mkdir(parents=True, exist_ok=True)
        (state / "root-warning").touch()
    return load_run_config([directory or str(machine.project)], environment=machine.environment)


def test_an_ordinary_folder(machine: ProgramEnv) -> None:
    assert place_warnings(load(machine, str(machine.project))) == ()


def test_the_home_directory(machine: ProgramEnv) -> None:
    warning = "This is your home directory: all your files are in the workspace. Start Tejat in a project directory."
    assert place_warnings(load(machine, str(machine.home))) == (warning,)


def test_the_home_directory_of_who_wants_no_warning(machine: ProgramEnv) -> None:
    machine.write_user_settings(ui={"showHomeDirectoryWarning": False})
    assert place_warnings(load(machine, str(machine.home))) == ()


def test_the_root_directory_always(machine: ProgramEnv) -> None:
    machine.write_user_settings(ui={"showHomeDirectoryWarning": False})
    warning = "This is the root directory of the file system: every file is in the workspace."
    assert place_warnings(load(machine, "/")) == (warning,)


@pytest.mark.skipif(os.geteuid() != 0, reason="for root")
def test_root_is_warned_once(machine: ProgramEnv) -> None:
    first, second = place_warnings(load(machine)), place_warnings(load(machine))
    assert [warning.partition(":")[0] for warning in first] == ["Running as root"]
    assert second == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="for root")
def test_root_with_files_of_another_user_is_warned_every_time_but_not_twice(machine: ProgramEnv) -> None:
    os.chown(machine.project, 12345, 12345)
    config = load(machine)
    assert config.notes[0].startswith("Running as root:")
    assert place_warnings(config) == ()
