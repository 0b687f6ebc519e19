"""What `tejat doctor` says about authentication, variables, MCP servers and telemetry."""

from pathlib import Path

import pytest

from support.program import ProgramEnv, write_json
from tejat.app.run_config import load_run_config
from tejat.app.setup.security_checks import security_checks
from tejat.core.i18n import translate


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    machine = ProgramEnv(tmp_path)
    machine.environment["TEJAT_ADMIN_DIRECTORY"] = str(tmp_path / "etc")
    return machine


def checks(machine: ProgramEnv) -> list[tuple[str, str, bool, str]]:
    run_config = load_run_config([str(machine.project)], environment=machine.environment)
    return [
        (translate(each.group), translate(each.name), each.passed, translate(each.detail))
        for each in security_checks(run_config)
    ]


def test_nothing_to_say(machine: ProgramEnv) -> None:
    assert checks(machine) == []


def test_authentication(machine: ProgramEnv) -> None:
    path = machine.write_user_settings(
        security={"auth": {"selectedType": "oauth-personal", "enforcedType": "vertex-ai"}}
    )
    assert checks(machine) == [
        (
            "authentication",
            "selected",
            False,
            f"oauth-personal ({path}:1): Tejat has no Google sign-in; an API key or Vertex AI is used instead",
        ),
        ("authentication", "enforced", False, f"vertex-ai ({path}:1); this run would use gemini-api-key"),
    ]
    run_config = load_run_config([str(machine.project)], environment=machine.environment)
    assert [check.exit_code for check in security_checks(run_config)] == [0, 41]
    machine.write_user_settings(security={"auth": {"selectedType": "vertex-ai", "enforcedType": "vertex-ai"}})
    assert [passed for _, _, passed, _ in checks(machine)] == [True, True]
    machine.write_user_settings(security={"auth": {"selectedType": "magic"}})
    assert [passed for _, _, passed, _ in checks(machine)] == [False]


def test_the_enforced_type_for_a_preset(machine: ProgramEnv) -> None:
    path = machine.write_user_settings(
        model={"name": "mine"},
        modelConfigs={"customAliases": {"mine": {"modelConfig": {"model": "gemini-2.5-flash"}}}},
        security={"auth": {"enforcedType": "vertex-ai"}},
    )
    assert checks(machine) == [
        ("authentication", "enforced", False, f"vertex-ai ({path}:1); this run would use gemini-api-key")
    ]


def test_a_gateway_without_a_key(machine: ProgramEnv) -> None:
    machine.write_user_settings(security={"auth": {"selectedType": "gateway"}})
    machine.environment["GOOGLE_GEMINI_BASE_URL"] = "http://127.0.0.1:1"
    done = machine.run("doctor")
    assert "none; your own server may not need one" in done.stdout
    vertex = {"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_CLOUD_PROJECT_ID": "p"}
    done = machine.run("doctor", **vertex)
    assert "GOOGLE_CLOUD_PROJECT" not in done.stdout


def test_variables(machine: ProgramEnv) -> None:
    machine.environment |= {"TOK": "ghp_" + "a1" * 18, "FINE": "fine"}
    redaction = {"enabled": False, "allowed": ["TOK", "FINE", "foo"], "blocked": ["FOO"]}
    path = machine.write_user_settings(security={"environmentVariableRedaction": redaction})
    assert checks(machine) == [
        ("environment", "redaction", True, f"{path}:1: read, but only listed variables are passed to commands"),
        ("environment", "not passed on", False, "TOK: its value looks like a key"),
        ("environment", "not passed on", False, f"foo: {path}:1 blocks it"),
    ]


def test_servers(machine: ProgramEnv) -> None:
    user = machine.write_user_settings(
        mcpServers={"a": {"command": "x", "magic": 1}}, admin={"mcp": {"enabled": False}}
    )
    lists = {"config": {"b": {}}, "requiredConfig": {"c": {"url": "https://h"}}}
    admin = write_json(machine.base / "etc" / "settings.json", {"admin": {"mcp": lists}})
    assert checks(machine) == [
        (
            "MCP servers",
            "disabled",
            False,
            f"MCP servers are turned off: admin.mcp.enabled is false in {user}:1.",
        ),
        ("MCP servers", "unknown fields", False, f"a ({user}:1): magic"),
        ("MCP servers", "not started", False, f"a: admin.mcp.config in {admin}:1 does not list it"),
        ("MCP servers", "required", True, f"c ({admin}:1), not trusted; to trust it, set trust there"),
    ]


def test_extensions(machine: ProgramEnv) -> None:
    path = machine.write_user_settings(security={"blockGitExtensions": True})
    detail = f"{path}:1 security.blockGitExtensions: kept, because no extension is loaded"
    assert checks(machine) == [("settings", "kept", True, detail)]


def test_telemetry(machine: ProgramEnv) -> None:
    path = machine.write_user_settings(telemetry={"enabled": True, "target": "gcp", "outfile": "/x"})
    assert checks(machine) == [
        ("telemetry", "file", True, "/x"),
        ("telemetry", "no effect", True, f"{path}:1: read, has no effect: nothing is sent"),
    ]
    machine.environment["GEMINI_TELEMETRY_TARGET"] = "elsewhere"
    ((group, _, passed, detail),) = checks(machine)
    assert (group, passed) == ("telemetry", False)
    assert "GEMINI_TELEMETRY_TARGET must be local or gcp" in detail
