"""What is said at start about unknown settings and wrong values."""

from pathlib import Path

import pytest

from support.program import ProgramEnv
from tejat.app.run_config import load_run_config
from tejat.app.setup.notes import settings_notes


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path.resolve())


def notes(machine: ProgramEnv, *, trusts_folder: bool = False) -> tuple[str, ...]:
    config = load_run_config([str(machine.project)], environment=machine.environment, trusts_folder=trusts_folder)
    return settings_notes(config)


def unknown(*names: str, more: int = 0) -> tuple[str]:
    count = len(names) + more
    shown = ", ".join(names) + (f" and {more} more" if more else "")
    verb = "setting is" if count == 1 else "settings are"
    return (f"{count} {verb} unknown ({shown}). Run `tejat doctor` for details.",)


class TestUnknown:
    def test_nothing_to_say(self, machine: ProgramEnv) -> None:
        assert notes(machine) == ()
        machine.write_user_settings(general={"vimMode": True}, ui={"hideContextSummary": True}, showCitations=True)
        assert notes(machine) == ()
        assert not Path(machine.home, ".local", "state", "tejat", "reported-settings.json").exists()

    def test_once_and_again_when_the_keys_change(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(general={"vimmode": True}, genral={})
        assert notes(machine) == unknown("general.vimmode", "genral")
        assert notes(machine) == ()
        machine.write_user_settings(genral={}, general={"vimmode": False, "vimMode": True})
        assert notes(machine) == ()
        machine.write_user_settings(genral={})
        assert notes(machine) == unknown("genral")
        machine.write_user_settings(a=1, b=2, c=3, d=4, e=5)
        assert notes(machine) == unknown("a", "b", "c", more=2)

    def test_every_file_is_remembered(self, machine: ProgramEnv) -> None:
        """Going back and forth between projects says nothing new."""
        machine.write_user_settings(mine=1)
        machine.write_project_settings(its=1)
        assert notes(machine, trusts_folder=True) == unknown("mine", "its")
        assert notes(machine) == ()
        assert notes(machine, trusts_folder=True) == ()

    def test_an_untrusted_project_is_not_looked_through(self, machine: ProgramEnv) -> None:
        machine.write_project_settings(its=1)
        assert notes(machine) == ()
        assert notes(machine, trusts_folder=True) == unknown("its")

    @pytest.mark.parametrize("content", ["", "[]", "{nonsense", '{"x": 1}'])
    def test_a_broken_memory_is_replaced(self, machine: ProgramEnv, content: str) -> None:
        machine.write_user_settings(mine=1)
        memory = Path(machine.home, ".local", "state", "tejat", "reported-settings.json")
        memory.parent.mkdir(parents=True, mode=0o700)
        memory.write_text(content)
        assert notes(machine) == unknown("mine")
        assert notes(machine) == ()

    def test_said_again_where_nothing_can_be_remembered(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(mine=1)
        machine.environment["XDG_STATE_HOME"] = "/dev/null"
        assert notes(machine) == notes(machine) == unknown("mine")


class TestWrongValues:
    def test_every_time(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(ui={"theme": 7})
        said = ("1 setting has a value that cannot be used. Run `tejat doctor` for details.",)
        assert notes(machine) == notes(machine) == said

    def test_those_of_keys_without_effect_count_too(self, machine: ProgramEnv) -> None:
        machine.write_user_settings(ui={"theme": 7, "hideContextSummary": "perhaps"}, mine=1)
        assert notes(machine) == (
            "2 settings have values that cannot be used. Run `tejat doctor` for details.",
            *unknown("mine"),
        )
