"""What is told about the mode and the rules at start and by `tejat doctor`."""

from pathlib import Path

import pytest

from support.program import ProgramEnv, write_settings
from tejat.app.run_config import RunConfig, load_run_config
from tejat.app.tools.policy_report import policy_checks
from tejat.app.tools.toolset import open_toolset
from tejat.core.agent.options import PolicyOptions
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.errors import ConfigurationError

PASSED_OVER = '[[rule]]\ntoolName = "run_shell_command"\ncommandRegex = "git"\ndecision = "allow"\npriority = 1\n'


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def load(machine: ProgramEnv) -> RunConfig:
    return load_run_config([str(machine.project)], environment=machine.environment)


def write_policy(machine: ProgramEnv, text: str) -> Path:
    path = machine.home / ".gemini" / "policies" / "a.toml"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_text(text)
    path.chmod(0o600)
    return path


def checks(machine: ProgramEnv) -> list[DoctorCheck]:
    return list(policy_checks(load(machine)))


def notes(machine: ProgramEnv, mode: str | None = None) -> tuple[str, ...]:
    with open_toolset(load(machine), None, policy=PolicyOptions(mode=mode), sandbox="off") as toolset:
        assert set(toolset.policy_notes) <= set(toolset.notes)
        return toolset.policy_notes


class TestChecks:
    def test_the_mode_with_its_source(self, machine: ProgramEnv) -> None:
        assert checks(machine) == [DoctorCheck("policy", "mode at start", passed=True, detail="default")]
        path = machine.write_user_settings(general={"defaultApprovalMode": "plan"})
        (mode,) = checks(machine)
        assert mode.detail == f"plan ({path}:1)"

    def test_sandboxed_commands(self, machine: ProgramEnv) -> None:
        machine.own_file.parent.mkdir(parents=True)
        machine.own_file.write_text('{"tools": {"shell": {"autoAllowSandboxed": true}}}')
        told = f"{machine.own_file}:1: sandboxed commands that only read, test or build run without asking"
        assert [check.detail for check in checks(machine)] == ["default", told]
        path = machine.write_user_settings(security={"disableAlwaysAllow": True})
        told = f"{machine.own_file}:1: no effect, because saved approvals are disabled by {path}:1"
        assert [check.detail for check in checks(machine)] == ["default", told]

    def test_rules_that_are_passed_over(self, machine: ProgramEnv) -> None:
        path = write_policy(machine, PASSED_OVER)
        _, rule = checks(machine)
        detail = f"{path}:1: ignored: commandRegex cannot allow commands: use commandPrefix"
        assert rule == DoctorCheck("policy", "rule", passed=True, detail=detail)

    def test_a_broken_rule(self, machine: ProgramEnv) -> None:
        path = write_policy(machine, "[[rule]]\n")
        (broken,) = checks(machine)
        assert (broken.passed, broken.exit_code) == (False, 52)
        assert broken.detail.startswith(f"{path}:1: ")


class TestNotes:
    def test_usually_there_are_none(self, machine: ProgramEnv) -> None:
        write_policy(machine, '[[rule]]\ntoolName = "glob"\ndecision = "deny"\npriority = 1\n')
        assert notes(machine) == notes(machine, "yolo") == ()

    def test_rules_that_count_only_in_part(self, machine: ProgramEnv) -> None:
        write_policy(machine, PASSED_OVER)
        told = "1 policy rule is ignored or applies more widely than written. See `tejat policy list`."
        assert notes(machine) == (told,)

    @pytest.mark.parametrize("mode", ["auto_edit", "yolo"])
    def test_a_bold_mode_in_a_folder_with_settings_that_are_not_trusted(self, machine: ProgramEnv, mode: str) -> None:
        write_settings(machine.project, {"tools": {"allowed": ["write_file"]}})
        told = f"This folder is not trusted. Using mode {mode}, as requested."
        assert notes(machine, mode) == (told,)
        assert notes(machine, "plan") == ()

    def test_auto_edit_of_the_settings_does_not_count_there(self, machine: ProgramEnv) -> None:
        path = machine.write_user_settings(general={"defaultApprovalMode": "auto_edit"})
        (told,) = notes(machine)
        assert told.startswith(f"Using the default mode: {path}:1 sets auto_edit, but this folder is not trusted.")

    def test_what_stands_in_for_a_model_that_judges_calls(self, machine: ProgramEnv) -> None:
        path = machine.write_user_settings(security={"enableConseca": True})
        (told,) = notes(machine)
        assert told.startswith(f"{path}:1: no model judges calls here.")
        with pytest.raises(ConfigurationError):
            notes(machine, "yolo")
