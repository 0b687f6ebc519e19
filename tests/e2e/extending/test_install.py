"""Extensions are installed after a sheet and a yes, and a cancelled install leaves nothing."""

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from support.extension_trees import installed_tree, write_demo, write_plain
from support.program import TEJAT, ProgramEnv
from support.terminal.pty_program import PtyProgram, run_at_terminal


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def at_terminal(machine: ProgramEnv, *words: str) -> AbstractContextManager[PtyProgram]:
    environment: dict[str, Any] = {**machine.environment}
    return run_at_terminal(*TEJAT[1:], "extensions", *words, cwd=machine.project, **environment)


def test_the_sheet_shows_what_runs(machine: ProgramEnv) -> None:
    write_demo(machine.project / "demo")
    done = machine.run("extensions", "install", "./demo")
    assert done.code == 3
    assert installed_tree(machine) == {}
    place = machine.home / ".gemini/extensions/demo"
    for text in (
        f"node {place}/server.js --port 7",
        "before each tool that matches write_file|replace",
        f"sh {place}/check.sh --strict",
        "MY_API_KEY",
        "deny run_shell_command: rm -rf",
        "allow read_file: not used",
        "context file GEMINI.md: 90 tokens in every request",
        "command /deploy",
        "skill audit",
        "agent helper",
        "tokens per request",
    ):
        assert text in done.stdout, text
    assert "--yes" in done.stderr


def test_enter_means_no(machine: ProgramEnv) -> None:
    write_plain(machine.project / "demo")
    with at_terminal(machine, "install", "./demo") as t:
        t.wait_for("Your choice")
        t.type(b"\n")
        assert t.wait_for_exit()[0] == 3
        assert "Nothing was changed." in t.shown
    assert installed_tree(machine) == {}


def test_yes_after_a_look_at_a_file(machine: ProgramEnv) -> None:
    write_plain(machine.project / "demo", GEMINI_md="Context \x1b[2Jtext")
    with at_terminal(machine, "install", "./demo") as t:
        t.wait_for("Your choice")
        t.type(b"3\n")
        t.wait_for("File to show")
        t.type(b"GEMINI.md\n")
        t.wait_for("Your choice")
        t.type(b"yes\n")
        code, printed = t.wait_for_exit()
    assert code == 0
    assert "> Context <U+001B>[2Jtext" in printed
    assert 'Extension "demo" installed successfully and enabled.' in printed
    record = json.loads(installed_tree(machine)["demo/.gemini-extension-install.json"])
    assert record == {"source": str(machine.project / "demo"), "type": "local"}


def test_consent_agrees_to_nothing_else(machine: ProgramEnv) -> None:
    write_demo(machine.project / "demo")
    machine.write_project_settings(tools={"exclude": ["glob"]})
    done = machine.run("extensions", "link", "./demo", "--consent")
    assert (done.code, done.stderr) == (0, "")
    assert 'Extension "demo" linked successfully and enabled.' in done.stdout
    assert not (machine.home / ".config/tejat/trust.json").exists()
    assert not (machine.home / ".gemini/trustedFolders.json").exists()
    assert list(installed_tree(machine)) == ["demo/.gemini-extension-install.json"]


def test_cancelled_at_the_settings(machine: ProgramEnv) -> None:
    write_demo(machine.project / "demo")
    with at_terminal(machine, "install", "./demo") as t:
        t.wait_for("Your choice")
        t.type(b"2\n")
        t.wait_for("not shown while you type")
        t.type(b"\x03")
        code, printed = t.wait_for_exit()
    assert code == 0
    assert "installed successfully" in printed
    assert "missing settings: API Key" in printed
    listed = machine.run("extensions", "list")
    assert "demo 1.0.0: enabled" in listed.stdout
    assert "missing settings: API Key" in listed.stdout


def test_a_secret_is_given_and_never_shown(machine: ProgramEnv) -> None:
    write_demo(machine.project / "demo")
    with at_terminal(machine, "install", "./demo") as t:
        t.wait_for("Your choice")
        t.type(b"2\n")
        t.wait_for("not shown while you type")
        t.type(b"sk-test-0123456789abcdef\n")
        code, printed = t.wait_for_exit()
        assert code == 0
        assert "sk-test" not in printed + t.shown
    listed = machine.run("extensions", "list", "-o", "json")
    assert "sk-test" not in listed.stdout
    assert listed.json[0]["resolvedSettings"][0]["value"] == "***"
    assert all(b"sk-test" not in content for content in installed_tree(machine).values())


def test_cancelled_at_the_sheet(machine: ProgramEnv) -> None:
    write_plain(machine.project / "demo")
    write_plain(machine.project / "other", "other")
    assert machine.run("extensions", "install", "./other", "--yes").code == 0
    before = installed_tree(machine)
    with at_terminal(machine, "install", "./demo") as t:
        t.wait_for("Your choice")
        t.type(b"\x03")
        assert t.wait_for_exit()[0] == 130
    assert installed_tree(machine) == before
    assert sorted(path.name for path in (machine.home / ".gemini/extensions").iterdir()) == ["other"]
    assert machine.run("extensions", "install", "./demo", "--yes").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["install", "./missing"], "Install source not found."),
        (["install", "http://example.org/x"], "http:// is not encrypted"),
        (["install", "./demo", "--ref", "v1"], "--ref and --auto-update are not applicable for local extensions."),
        (["install", "./broken"], "name"),
        (["install", "./empty"], "There is no gemini-extension.json"),
        (["install", "./reserved"], "the name all is reserved"),
        (["install", "./command"], "/help is a built-in command"),
        (["update", "nope"], "Extension not found."),
        (["uninstall", "nope", "--yes"], "Extension not found."),
        (["enable", "nope"], "Extension not found."),
        (["review", "nope"], "Extension not found."),
        (["config", "nope"], "Extension not found."),
        (["back", "nope"], "Extension not found."),
    ],
)
def test_failures(machine: ProgramEnv, words: list[str], message: str) -> None:
    write_plain(machine.project / "demo")
    write_plain(machine.project / "reserved", "all")
    write_plain(machine.project / "command", "help")
    (machine.project / "empty").mkdir()
    (machine.project / "broken").mkdir()
    (machine.project / "broken/gemini-extension.json").write_text('{"name": 7, "version": "1"}')
    done = machine.run("extensions", *words)
    assert done.code == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert installed_tree(machine) == {}


def test_the_name_is_taken(machine: ProgramEnv) -> None:
    write_plain(machine.project / "demo")
    assert machine.run("extensions", "install", "./demo", "--yes").code == 0
    again = machine.run("extensions", "install", "./demo", "--yes")
    assert again.code == 1
    assert 'Extension "demo" is already installed. Please uninstall it first.' in again.stderr


def test_an_empty_directory_of_a_cancelled_install_of_gemini_cli(machine: ProgramEnv) -> None:
    (machine.home / ".gemini/extensions/demo").mkdir(parents=True)
    write_plain(machine.project / "demo")
    assert machine.run("extensions", "install", "./demo", "--yes").code == 0


def test_rules_of_the_machine(machine: ProgramEnv) -> None:
    write_plain(machine.project / "demo")
    machine.write_user_settings(security={"allowedExtensions": ["^https://github.com/good/"]})
    done = machine.run("extensions", "install", "./demo", "--yes")
    source = machine.project / "demo"
    message = f'Installing extension from source "{source}" is not allowed by the "allowedExtensions" security setting.'
    assert (done.code, message in done.stderr) == (1, True)
    machine.write_user_settings(security={"blockGitExtensions": True})
    blocked = machine.run("extensions", "install", "https://example.org/o/r", "--yes")
    assert (blocked.code, "blockGitExtensions" in blocked.stderr) == (1, True)
    assert machine.run("extensions", "install", "./demo", "--yes").code == 0


def test_values_of_a_package_are_not_installed(machine: ProgramEnv) -> None:
    source = write_plain(machine.project / "demo")
    (source / ".env").write_text("MY_API_KEY=theirs\n")
    (source / ".gemini-extension-install.json").write_text('{"source": "/other", "type": "git"}')
    done = machine.run("extensions", "install", "./demo", "--yes")
    assert ".env of the package" in done.stdout
    assert sorted(installed_tree(machine)) == ["demo/.gemini-extension-install.json", "demo/gemini-extension.json"]
    assert (source / ".env").exists()


def test_nothing_is_installed_when_extensions_are_off(machine: ProgramEnv) -> None:
    admin = machine.base / "admin"
    admin.mkdir()
    (admin / "settings.json").write_text('{"admin": {"extensions": {"enabled": false}}}')
    write_plain(machine.project / "demo")
    done = machine.run("extensions", "install", "./demo", "--yes", TEJAT_ADMIN_DIRECTORY=str(admin))
    assert done.code == 52
    assert installed_tree(machine) == {}
