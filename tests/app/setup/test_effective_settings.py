"""Settings that a file has in vain."""

from pathlib import Path

import pytest

from support.program import ProgramEnv, write_json
from tejat.app.run_config import load_run_config
from tejat.app.setup.setup_report import setup_report


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path.resolve())


def reasons(machine: ProgramEnv) -> dict[tuple[str, str], str]:
    """Why keys have no effect, by the file and the key."""
    config = load_run_config([str(machine.project)], environment=machine.environment, trusts_folder=True)
    return {
        (finding.path, finding.key): str(finding.reason)
        for finding in setup_report(config).settings
        if finding.status == "no effect"
    }


def test_a_project_can_only_tighten(machine: ProgramEnv) -> None:
    loose = {
        "general": {"defaultApprovalMode": "auto_edit"},
        "tools": {"sandbox": False, "allowed": ["glob"]},
        "security": {"disableYoloMode": False},
        "admin": {"mcp": {"enabled": True}},
    }
    path = str(machine.write_project_settings(**loose))
    stricter = "A project can only make it stricter."
    assert reasons(machine) == {
        (path, "general.defaultApprovalMode"): stricter,
        (path, "tools.sandbox"): stricter,
        (path, "tools.allowed"): "A project cannot allow calls.",
        (path, "security.disableYoloMode"): stricter,
        (path, "admin.mcp.enabled"): stricter,
    }
    strict = {
        "general": {"defaultApprovalMode": "plan"},
        "tools": {"sandbox": True, "exclude": ["glob"]},
        "security": {"disableYoloMode": True},
        "admin": {"mcp": {"enabled": False}},
    }
    machine.write_project_settings(**strict)
    assert reasons(machine) == {}
    (machine.project / ".gemini" / "settings.json").unlink()
    machine.write_user_settings(**loose)
    assert reasons(machine) == {}


def test_the_last_file_wins(machine: ProgramEnv) -> None:
    of_user = machine.write_user_settings(model={"name": "pro"}, tools={"exclude": ["glob"]}, vimMode=True)
    of_project = machine.write_project_settings(model={"name": "flash"}, tools={"exclude": ["web_fetch"]})
    machine.own_file.parent.mkdir(parents=True, mode=0o700)
    own = write_json(machine.own_file, {"general": {"vimMode": False}})
    assert reasons(machine) == {
        (str(of_user), "model.name"): f"{of_project}:1 takes precedence.",
        (str(of_user), "vimMode"): f"{own}:1 takes precedence.",
    }
    machine.environment["GEMINI_MODEL"] = "auto"
    assert reasons(machine)[str(of_project), "model.name"] == "GEMINI_MODEL takes precedence."


def test_tables_of_models_need_a_switch(machine: ProgramEnv) -> None:
    tables = {"modelDefinitions": {"mine": {"displayName": "Mine"}}, "modelChains": {}}
    path = str(machine.write_user_settings(modelConfigs=tables))
    reason = "It needs experimental.dynamicModelConfiguration."
    expected = {(path, f"modelConfigs.{name}"): reason for name in tables}
    assert reasons(machine) == expected
    machine.write_user_settings(modelConfigs=tables, experimental={"dynamicModelConfiguration": True})
    assert reasons(machine) == {}


def test_telemetry_that_is_not_sent(machine: ProgramEnv) -> None:
    path = str(machine.write_user_settings(telemetry={"enabled": True, "otlpEndpoint": "http://127.0.0.1:9"}))
    assert reasons(machine) == {
        (path, "telemetry"): "Nothing is sent; `outfile` writes events to a local file.",
    }
    machine.write_user_settings(telemetry={"enabled": True, "outfile": "events.jsonl"})
    assert reasons(machine) == {}
    machine.write_user_settings(telemetry={"enabled": False})
    assert reasons(machine) == {}
