"""Variables that commands, hooks and servers get or never get, and variables that decide about a run."""

import json
import sys
from pathlib import Path

import pytest

from support.program import ProgramEnv, script_answer, text_script

TOKEN = "ghp_" + "a1" * 18


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    machine = ProgramEnv(tmp_path)
    machine.environment |= {"FOO": "foo", "BAR": "bar", "TOK": TOKEN, "Mixed": "mixed", "OTHER": "other"}
    return machine


def variables(path: Path) -> dict[str, str]:
    lines = path.read_bytes().decode().split("\0")
    return dict(line.split("=", 1) for line in lines if "=" in line)


NAMES = ("FOO", "BAR", "TOK", "Mixed", "OTHER")


def test_nobody_gets_a_blocked_variable_or_a_key(machine: ProgramEnv) -> None:
    seen = {name: machine.base / name for name in ("shell", "hook", "server", "discovery")}
    dump = "import os, sys; open(sys.argv[1], 'wb').write(b'\\0'.join(k + b'=' + v for k, v in os.environb.items()))"
    machine.write_user_settings(
        security={"environmentVariableRedaction": {"enabled": False, "blocked": ["foo"], "allowed": ["TOK", "MIXED"]}},
        tools={
            "shell": {"environment": ["FOO", "BAR"]},
            "discoveryCommand": [sys.executable, "-c", dump, str(seen["discovery"])],
        },
        hooks={"SessionStart": [{"hooks": [{"type": "command", "command": f"env -0 > {seen['hook']}"}]}]},
        mcpServers={
            "a": {
                "command": sys.executable,
                "args": ["-c", dump, str(seen["server"])],
                "env": {"OWN": "$FOO", "REFERRED": "$OTHER", "foo": "x"},
            }
        },
    )
    calls = script_answer(calls=[("run_shell_command", {"command": "echo [$FOO$BAR$TOK$Mixed$OTHER]"})])
    model = machine.script(calls + text_script("Done."))
    done = machine.run("--skip-trust", "-y", "-m", model, "-p", "go", "-o", "stream-json")
    assert done.code == 0, done.stderr
    assert "[barmixed]" in next(line["output"] for line in done.lines if line["type"] == "tool_result")
    found = {who: variables(seen[who]) for who in ("hook", "server", "discovery")}
    assert {name: found["hook"].get(name) for name in NAMES} == {**dict.fromkeys(NAMES), "BAR": "bar", "Mixed": "mixed"}
    assert {name: found["discovery"].get(name) for name in NAMES} == {
        **dict.fromkeys(NAMES),
        "BAR": "bar",
        "Mixed": "mixed",
    }
    server = found["server"]
    assert {name: server.get(name) for name in NAMES} == {**dict.fromkeys(NAMES), "Mixed": "mixed"}
    assert (server["OWN"], server["REFERRED"], server.get("foo")) == ("", "other", None)


def test_the_older_names_of_the_lists(machine: ProgramEnv) -> None:
    machine.write_user_settings(
        security={"blockedEnvironmentVariables": ["BAR"], "allowedEnvironmentVariables": ["BAR", "OTHER"]}
    )
    calls = script_answer(calls=[("run_shell_command", {"command": "echo [$BAR$OTHER]"})])
    done = machine.run("-y", "-m", machine.script(calls + text_script("Done.")), "-p", "go", "-o", "stream-json")
    assert "[other]" in next(line["output"] for line in done.lines if line["type"] == "tool_result")


@pytest.mark.parametrize("variable", ["GEMINI_RESTRICTED_MODE=true", "GEMINI_CLI_TRUST_WORKSPACE=false"])
def test_a_variable_forbids_trust_even_against_the_flag(machine: ProgramEnv, variable: str) -> None:
    name, _, value = variable.partition("=")
    machine.write_project_settings(mcpServers={"a": {"command": "touch", "args": [str(machine.base / "mark")]}})
    assert machine.run("trust", "--yes").code == 0
    model = machine.script(text_script("Hi."))
    done = machine.run("--skip-trust", "-m", model, "-p", "hi", **{name: value})
    assert (done.code, done.stdout) == (0, "Hi.\n")
    assert f"{machine.project} is not trusted in this run: {variable} is set." in done.stderr
    assert not (machine.base / "mark").exists()


def test_a_plain_env_file_of_a_project_is_left_alone(machine: ProgramEnv) -> None:
    (machine.project / ".env").write_text("FLASK_ENV=plain\n")
    machine.write_user_settings(advanced={"ignoreLocalEnv": True}, tools={"shell": {"environment": ["FLASK_ENV"]}})
    calls = script_answer(calls=[("run_shell_command", {"command": "echo [$FLASK_ENV]"})])
    model = machine.script(calls + text_script("Done."))
    words = ("--skip-trust", "-y", "-m", model, "-p", "go", "-o", "stream-json")
    done = machine.run(*words)
    assert "[]" in next(line["output"] for line in done.lines if line["type"] == "tool_result")
    (machine.project / ".gemini").mkdir()
    (machine.project / ".gemini" / ".env").write_text("FLASK_ENV=own\n")
    done = machine.run(*words)
    assert "[own]" in next(line["output"] for line in done.lines if line["type"] == "tool_result")


@pytest.mark.parametrize("advanced", [{"ignoreLocalEnv": True}, {"excludedEnvVars": ["FLASK_ENV"]}])
def test_a_trusted_project_may_withhold_its_own_variables(machine: ProgramEnv, advanced: dict[str, object]) -> None:
    (machine.project / ".env").write_text("FLASK_ENV=plain\nPORT=3\n")
    machine.write_project_settings(advanced=advanced, general={"maxAttempts": "$PORT"}, telemetry="$PORT")
    machine.write_user_settings(tools={"shell": {"environment": ["FLASK_ENV"]}})
    calls = script_answer(calls=[("run_shell_command", {"command": "echo [$FLASK_ENV]"})])
    model = machine.script(calls + text_script("Done."))
    done = machine.run("--skip-trust", "-y", "-m", model, "-p", "go", "-o", "stream-json")
    assert "[]" in next(line["output"] for line in done.lines if line["type"] == "tool_result")


def test_telemetry_is_written_to_a_file_and_never_sent(machine: ProgramEnv) -> None:
    log = machine.base / "telemetry.jsonl"
    machine.write_user_settings(telemetry={"enabled": True, "outfile": str(log), "target": "local"})
    calls = script_answer(calls=[("list_directory", {"path": "${root}"})])
    model = machine.script(calls + text_script("Done."))
    done = machine.run("-m", model, "-p", f"look at {TOKEN}")
    assert (done.code, done.stderr) == (0, "")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    names = [event["event.name"].removeprefix("gemini_cli.") for event in events]
    assert names == ["config", "user_prompt", "api_response", "tool_call", "api_response", "conversation_finished"]
    assert events[3]["function_name"] == "list_directory"
    assert "prompt" not in events[1]
    done = machine.run("-m", model, "-p", f"look at {TOKEN}", GEMINI_TELEMETRY_LOG_PROMPTS="true")
    assert "look at [the secret TOK]" in log.read_text()
    assert TOKEN not in log.read_text()
    wrong = machine.run("-m", model, "-p", "hi", GEMINI_TELEMETRY_TARGET="elsewhere")
    assert (wrong.code, wrong.stdout) == (52, "")
