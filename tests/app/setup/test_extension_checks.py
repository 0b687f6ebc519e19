"""What `tejat doctor` says about extensions."""

from pathlib import Path

import pytest

from support.extensions import write_extension
from support.program import ProgramEnv
from tejat.app.run_config import load_run_config
from tejat.app.setup.extension_checks import extension_checks


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def details(machine: ProgramEnv) -> list[tuple[str, bool, str]]:
    run_config = load_run_config([str(machine.project)], environment=machine.environment)
    return [(check.name, check.passed, check.detail) for check in extension_checks(run_config)]


def test_nothing_to_say(machine: ProgramEnv) -> None:
    assert details(machine) == []


def test_those_in_use_and_those_left_out(machine: ProgramEnv) -> None:
    extensions = machine.home / ".gemini" / "extensions"
    write_extension(extensions / "good", manifest={"settings": [{"name": "Region", "envVar": "MY_REGION"}]})
    write_extension(extensions / "bad", manifest={"version": 3})
    first, second = details(machine)
    assert first == ("good", True, "1.0.0, missing settings: Region")
    assert second[1] is False
    assert "bad is not used" in second[2]
