"""`tejat extensions`: lists, settings, reviews, previews and bad usage."""

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from support.extension_trees import demo_manifest, write_demo, write_plain
from support.program import TEJAT, ProgramEnv, ProgramResult
from support.terminal.pty_program import PtyProgram, run_at_terminal

SECRET = "sk-test-0123456789abcdef"


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


@pytest.fixture
def demo(machine: ProgramEnv) -> Path:
    source = write_demo(machine.project / "demo")
    region = {"name": "Region", "envVar": "REGION"}
    key = {"name": "API Key", "envVar": "MY_API_KEY", "sensitive": True}
    (source / "gemini-extension.json").write_text(demo_manifest(settings=[region, key]))
    assert machine.run("extensions", "install", "./demo", "--yes", "--skip-settings").code == 0
    return machine.home / ".gemini/extensions/demo"


def at_terminal(machine: ProgramEnv, *words: str) -> AbstractContextManager[PtyProgram]:
    environment: dict[str, Any] = {**machine.environment}
    return run_at_terminal(*TEJAT[1:], "extensions", *words, cwd=machine.project, **environment)


@pytest.mark.parametrize("words", [["-l"], ["--list-extensions"], ["extensions", "list"], ["extension", "list"]])
def test_none(machine: ProgramEnv, words: list[str]) -> None:
    assert machine.run(*words) == ProgramResult(0, "No extensions installed.\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Missing command."),
        (["instal"], "install"),
        (["install"], "SOURCE"),
        (["install", "x", "--reff", "y"], "--ref"),
        (["update"], "Give the names of extensions, or --all."),
        (["uninstall", "x", "--all"], "Give the names of extensions, or --all."),
        (["enable", "x", "--scope", "session"], "must be one of user, workspace"),
    ],
)
def test_bad_usage(machine: ProgramEnv, words: list[str], message: str) -> None:
    done = machine.run("extensions", *words)
    assert (done.code, done.stdout) == (2, "")
    assert message in done.stderr


def test_states(machine: ProgramEnv, demo: Path) -> None:
    write_plain(demo.parent / "fresh", "fresh")
    write_plain(demo.parent / "twin", "demo")
    (demo.parent / "broken").mkdir()
    (demo.parent / "broken/gemini-extension.json").write_text("{")
    (demo.parent / "odd").mkdir()
    (demo.parent / "odd/file").write_text("")
    (demo.parent / "empty").mkdir()
    (demo.parent / ".hidden").mkdir()
    (demo / "GEMINI.md").write_text("other \x1b[2J")
    listed = machine.run("extensions", "list", "-o", "json").json
    assert [(each["name"], each["state"], each["isActive"]) for each in listed] == [
        ("broken", "broken", False),
        ("demo", "changed", False),
        ("demo", "broken", False),
        ("fresh", "new", False),
        ("odd", "broken", False),
    ]
    assert "GEMINI.md" in listed[1]["reason"]
    text = machine.run("extensions", "list", "--tokens").stdout
    assert "fresh 1.0.0: new (not installed by a command)" in text
    assert "\x1b" not in text


def test_settings(machine: ProgramEnv, demo: Path) -> None:
    listed = machine.run("extensions", "list").stdout
    assert "Region (REGION): [not set]" in listed
    assert "missing settings: Region, API Key" in listed
    refused = machine.run("extensions", "config", "demo")
    assert (refused.code, "--from-env" in refused.stderr) == (3, True)
    unset = machine.run("extensions", "config", "demo", "--from-env")
    assert (unset.code, "None of these variables is set" in unset.stderr) == (1, True)
    stored = machine.run("extensions", "config", "demo", "--from-env", REGION="eu west", MY_API_KEY=SECRET)
    assert (stored.code, stored.stdout) == (0, "Stored: REGION, MY_API_KEY.\n")
    shown = machine.run("extensions", "config").stdout
    assert "Region (REGION): eu west (user)" in shown
    assert "API Key (MY_API_KEY): *** (user)" in shown
    assert (demo / ".env").read_text() == "REGION='eu west'\n"
    unknown = machine.run("extensions", "config", "demo", "nope", "--unset")
    assert (unknown.code, "Known: REGION, MY_API_KEY" in unknown.stderr) == (1, True)
    assert machine.run("extensions", "config", "demo", "api key", "--unset").stdout == "Removed: MY_API_KEY.\n"
    everything = [path.read_bytes() for path in machine.home.rglob("*") if path.is_file()]
    assert all(SECRET.encode() not in content for content in everything)


def test_settings_at_a_terminal(machine: ProgramEnv, demo: Path) -> None:
    assert machine.run("extensions", "config", "demo", "--from-env", REGION="eu", MY_API_KEY=SECRET).code == 0
    with at_terminal(machine, "config", "demo") as terminal:
        terminal.wait_for("empty for eu")
        terminal.type(b"us\n")
        terminal.wait_for("not shown while you type")
        terminal.type(b"\n")
        code, printed = terminal.wait_for_exit()
        assert SECRET not in printed + terminal.shown
    assert code == 0
    assert "Stored in plain text in " in printed
    assert (demo / ".env").read_text() == "REGION=us\n"
    assert "*** (user)" in machine.run("extensions", "config").stdout


@pytest.mark.usefixtures("demo")
def test_workspace_values_need_trust(machine: ProgramEnv) -> None:
    machine.write_project_settings(tools={"exclude": ["glob"]})
    words = ["extensions", "config", "demo", "REGION", "--scope", "workspace", "--from-env"]
    done = machine.run(*words, REGION="eu")
    assert (done.code, "not trusted" in done.stderr) == (1, True)
    assert not (machine.project / ".env").exists()


@pytest.mark.usefixtures("demo")
def test_settings_switched_off(machine: ProgramEnv) -> None:
    machine.write_user_settings(experimental={"extensionConfig": False})
    done = machine.run("extensions", "config", "demo")
    assert (done.code, "experimental.extensionConfig" in done.stderr) == (1, True)


def test_review(machine: ProgramEnv, demo: Path) -> None:
    assert "has not changed since you agreed to it." in machine.run("extensions", "review", "demo").stdout
    (demo / "GEMINI.md").write_text("BRAND-NEW\n")
    (demo / "server.js").write_text("evil()\n")
    asked = machine.run("extensions", "review")
    assert asked.code == 3
    assert "+ BRAND-NEW" in asked.stdout or "+BRAND-NEW" in asked.stdout
    assert "changed server.js" in asked.stdout
    with at_terminal(machine, "review", "demo") as terminal:
        terminal.wait_for("Your choice")
        terminal.type(b"2\n")
        assert terminal.wait_for_exit()[0] == 0
    assert machine.run("extensions", "list", "-o", "json").json[0]["state"] == "enabled"
    assert machine.run("extensions", "review").stdout == "No extension is new or changed.\n"


def test_listing_takes_nothing_over(machine: ProgramEnv) -> None:
    tree = write_plain(machine.home / ".gemini/extensions/demo")
    (tree / ".gemini-extension-install.json").write_text('{"source": "/src/demo", "type": "local"}')
    (tree / ".gemini-extension-install.json").chmod(0o600)
    assert "demo 1.0.0: new" in machine.run("extensions", "list").stdout
    assert not (machine.home / ".config/tejat/extensions.json").exists()


def test_preview(machine: ProgramEnv) -> None:
    write_demo(machine.project / "demo")
    done = machine.run("extensions", "preview", "./demo", "-o", "json")
    assert (done.code, done.stderr) == (0, "")
    effect = done.json["effect"]
    assert effect["tokens"]["change"] == sum(effect[key]["change"] for key in ("context", "skills", "agents")) > 0
    assert (effect["runsAtStart"]["change"], effect["runsBeforeTools"]["change"]) == (1, 1)
    assert effect["denied"]["note"] == "deny run_shell_command: rm -rf"
    assert effect["tools"]["note"] == "known after the first start of: tools"
    assert "runs" in done.json
    text = machine.run("extensions", "preview", "./demo").stdout
    assert "with demo 1.0.0" in text
    assert "known after the first start of: tools" in text
    assert machine.run("extensions", "list").stdout == "No extensions installed.\n"


def test_validate_and_new(machine: ProgramEnv) -> None:
    created = machine.run("extensions", "new", "fresh", "skills")
    assert created.code == 0
    done = machine.run("extensions", "validate", "fresh")
    path = machine.project / "fresh"
    assert f"Extension {path} has been successfully validated." in done.stdout
    (path / "gemini-extension.json").write_text(json.dumps({"name": "fresh", "version": "1", "contextFileName": "X"}))
    broken = machine.run("extensions", "validate", "fresh", "-o", "json")
    assert (broken.code, broken.json["valid"]) == (1, False)
    assert "1 error found." in broken.stderr


@pytest.mark.usefixtures("demo")
def test_on_and_off(machine: ProgramEnv) -> None:
    off = machine.run("extensions", "disable", "demo").stdout
    assert off == 'Extension "demo" successfully disabled for scope "user": everywhere.\n'
    on = machine.run("extensions", "enable", "demo", "--scope", "workspace").stdout
    assert on == f'Extension "demo" successfully enabled for scope "workspace": in {machine.project} and below.\n'
    servers = machine.home / ".gemini/mcp-server-enablement.json"
    servers.write_text('{"tools": {"enabled": false}}')
    servers.chmod(0o600)
    assert "These servers stay disabled" in machine.run("extensions", "enable", "demo").stdout


@pytest.mark.usefixtures("demo")
def test_a_reader_that_stops(machine: ProgramEnv) -> None:
    done = machine.run_shell('"$@" | head -1', "extensions", "list")
    assert "Traceback" not in done.stderr
    assert "tejat:" not in done.stderr
