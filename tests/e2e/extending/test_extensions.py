"""Extensions of Gemini CLI in a run: taken over, pinned, restricting, and merged with what the user has."""

import json
import os
import sys
from pathlib import Path

import pytest

from support.extensions import write_extension
from support.program import ProgramEnv, ProgramResult, script_answer, text_script, write_json, write_settings
from tejat.config.extensions.consent import agree_to_extension
from tejat.config.extensions.consent_store import ConsentParty
from tejat.config.extensions.install_record import read_install_record
from tejat.config.extensions.manifest import read_manifest
from tejat.config.paths import app_paths

SECRET = "sk-test-0123456789abcdef"
SERVER = """\
import json, os, sys
if len(sys.argv) > 1:
    with open(sys.argv[1], "w") as file:
        json.dump(dict(os.environ), file)
for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("a", "b", "c")]
        result = {"tools": tools}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": os.environ.get("MY_API_KEY", "unset")}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""  # noqa: E501 -- a program


class Machine(ProgramEnv):
    """A home with extensions. The model says what the scripts say."""

    @property
    def extensions(self) -> Path:
        return self.home / ".gemini" / "extensions"

    @property
    def recording(self) -> Path:
        return self.base / "recording.jsonl"

    def ask(self, *words: str, script: str = "", prompt: str = "hi") -> ProgramResult:
        """Run one prompt, recorded."""
        self.recording.unlink(missing_ok=True)
        model = self.script(script or text_script("ok"))
        given = ("-m", model, "--sandbox", "off", "--record", str(self.recording), *words, "-p", prompt)
        return self.run(*given)

    def agree(self, directory: Path) -> None:
        """Agree to an extension as it is, as its review does."""
        paths = app_paths(self.environment)
        record = read_install_record(str(directory))
        agree_to_extension(paths, str(directory), read_manifest(str(directory)), record, party=ConsentParty.USER)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


class TestTakenOver:
    def test_used_at_once_and_told_once(self, machine: Machine) -> None:
        write_extension(machine.extensions / "demo", files={"GEMINI.md": "CTX-7731"})
        first = machine.ask()
        assert first.code == 0
        assert "<extension_context>" in machine.recording.read_text()
        assert "CTX-7731" in machine.recording.read_text()
        told = (
            "tejat: Using 1 extension installed by Gemini CLI: demo (about 2 tokens of context). "
            "`tejat extensions review NAME` shows it."
        )
        assert [line for line in first.stderr.splitlines() if "demo" in line] == [told]
        second = machine.ask()
        assert second.stderr == ""
        assert "CTX-7731" in machine.recording.read_text()

    def test_one_line_for_all(self, machine: Machine) -> None:
        for name in ("a", "b", "c"):
            files = {"commands/x.toml": 'prompt = "x"', "skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\n"}
            write_extension(machine.extensions / name, files=files)
        lines = [line for line in machine.ask().stderr.splitlines() if "installed by Gemini CLI" in line]
        assert len(lines) == 1
        assert "a (1 command, 1 skill); b (1 command, 1 skill); c (1 command, 1 skill)" in lines[0]

    def test_selected_by_name(self, machine: Machine) -> None:
        write_extension(machine.extensions / "one", files={"GEMINI.md": "CTX-1"})
        write_extension(machine.extensions / "two", files={"GEMINI.md": "CTX-2"})
        machine.ask("-e", "TWO")
        text = machine.recording.read_text()
        assert "CTX-2" in text
        assert "CTX-1" not in text
        machine.ask("--extensions", "none")
        assert "CTX-" not in machine.recording.read_text()
        unknown = machine.ask("-e", "three")
        assert unknown.code == 42
        assert "Extension not found: three" in unknown.stderr


class TestChanged:
    def test_left_out_and_named(self, machine: Machine) -> None:
        directory = write_extension(machine.extensions / "demo", files={"GEMINI.md": "CTX-7731"})
        machine.ask()
        with (directory / "GEMINI.md").open("a") as file:
            file.write("\nmore\n")
        result = machine.ask("-o", "json")
        assert result.code == 0
        assert "CTX-7731" not in machine.recording.read_text()
        named = [line for line in result.json["warnings"] if "demo" in line]
        assert len(named) == 1
        assert "GEMINI.md" in named[0]
        assert named[0] in result.stderr
        machine.agree(directory)
        assert machine.ask().stderr == ""
        assert "more" in machine.recording.read_text()

    def test_still_strict(self, machine: Machine) -> None:
        rule = '[[rule]]\ntoolName = "read_file"\npath = "secret/**"\ndecision = "deny"\n'
        directory = write_extension(
            machine.extensions / "demo",
            manifest={"excludeTools": ["glob"]},
            files={"GEMINI.md": "words", "policies/p.toml": rule},
        )
        (machine.project / "secret").mkdir()
        (machine.project / "secret/a").write_text("x")

        def explain(*words: str) -> ProgramResult:
            return machine.run("policy", "explain", *words)

        for change in ("", "GEMINI.md", "policies/p.toml", "gemini-extension.json"):
            if change:
                (directory / change).write_text("changed")
            glob, read = explain("glob", "pattern=x"), explain("read_file", "path=secret/a")
            assert glob.stdout.startswith("deny"), change
            assert read.stdout.startswith("deny"), change
            assert "demo" in glob.stdout
            assert str(directory) in read.stdout
        result = machine.ask(script=script_answer(calls=[("glob", {"pattern": "*"})]) + text_script("ok"))
        assert result.code == 0
        assert "demo" in result.stderr


def test_new_ones_run_nothing_until_they_are_reviewed(machine: Machine) -> None:
    mark = machine.base / "mark"
    hooks = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": f"touch {mark}"}]}]}}
    directory = write_extension(machine.extensions / "demo", files={"hooks/hooks.json": json.dumps(hooks)}, is_new=True)
    first = machine.ask()
    assert "demo is new" in first.stderr
    assert not mark.exists()
    assert machine.ask("-e", "demo").code == 0
    assert not mark.exists()
    machine.agree(directory)
    machine.ask()
    assert mark.exists()


def test_enablement_agrees_with_gemini_cli(machine: Machine) -> None:
    write_extension(machine.extensions / "demo", files={"GEMINI.md": "CTX-7731"})
    file = machine.extensions / "extension-enablement.json"

    def is_used() -> bool:
        machine.ask()
        return "CTX-7731" in machine.recording.read_text()

    write_json(file, {"demo": {"overrides": [f"{machine.base}/*", f"!{machine.project}/*"]}})
    assert not is_used()
    write_json(file, {"demo": {"overrides": [f"!{machine.base}/*", f"{machine.project}/*"]}})
    assert is_used()
    write_json(file, {"demo": {"overrides": ["!/*"]}})
    assert not is_used()
    write_json(file, "{")
    assert "extension-enablement.json" in machine.ask().stderr
    assert "CTX-7731" not in machine.recording.read_text()


def test_secrets_go_to_the_programs_of_the_extension_only(machine: Machine) -> None:
    seen, hook_seen = machine.base / "server.json", machine.base / "hook.txt"
    hooks = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": f"env > {hook_seen}"}]}]}}
    directory = write_extension(
        machine.extensions / "demo",
        manifest={
            "mcpServers": {"s": {"command": sys.executable, "args": ["${extensionPath}/server.py", str(seen)]}},
            "settings": [{"name": "API Key", "envVar": "MY_API_KEY", "sensitive": True}],
        },
        files={
            "GEMINI.md": "The key is ${MY_API_KEY} in ${extensionPath}.",
            "commands/tell.toml": 'prompt = "key: ${MY_API_KEY}"',
            "skills/keys/SKILL.md": "---\nname: keys\ndescription: d\n---\nSKILL ${MY_API_KEY} in ${extensionPath}",
            "agents/keeper.md": "---\nname: keeper\ndescription: d\n---\nAGENT ${MY_API_KEY} in ${extensionPath}",
            "hooks/hooks.json": json.dumps(hooks),
            "server.py": SERVER,
        },
    )
    stored = machine.home / ".config" / "tejat" / "extension-settings"
    stored.mkdir(parents=True, mode=0o700)
    write_json(stored / "demo.env", f"MY_API_KEY={SECRET}\n")
    calls = [
        ("run_shell_command", {"command": "echo key=$MY_API_KEY."}),
        ("s__a", {}),
        ("activate_skill", {"name": "keys"}),
        ("invoke_agent", {"agent_name": "keeper", "prompt": "go"}),
    ]
    done = script_answer(purpose="agent:keeper", calls=[("complete_task", {"result": "done"})])
    script = script_answer(calls=calls) + done + text_script("ok")
    result = machine.ask("--trust", "-y", script=script, prompt="/tell")
    assert result.code == 0, result.stderr
    recorded = machine.recording.read_text()
    assert SECRET not in recorded
    assert f"The key is ${{MY_API_KEY}} in {directory}." in recorded
    assert f"SKILL ${{MY_API_KEY}} in {directory}" in recorded
    assert f"AGENT ${{MY_API_KEY}} in {directory}" in recorded
    assert "key=." in recorded
    assert json.loads(seen.read_text())["MY_API_KEY"] == SECRET
    assert f"MY_API_KEY={SECRET}" in hook_seen.read_text()
    journals = list((machine.home / ".local/state/tejat").rglob("*"))
    assert not any(SECRET.encode() in path.read_bytes() for path in journals if path.is_file())
    assert SECRET not in result.stdout + result.stderr


def test_servers_that_miss_a_setting_are_not_started(machine: Machine) -> None:
    write_extension(
        machine.extensions / "demo",
        manifest={
            "mcpServers": {
                "s": {"command": sys.executable, "args": ["${extensionPath}/server.py"], "env": {"K": "$MY_API_KEY"}},
                "out": {"command": sys.executable, "args": ["${extensionPath}/../server.py"]},
            },
            "settings": [{"name": "API Key", "envVar": "MY_API_KEY", "sensitive": True}],
        },
        files={"server.py": SERVER},
    )
    assert machine.run("trust", "--yes").code == 0
    listed = machine.run("mcp", "list").stdout
    assert "missing settings: API Key" in listed
    assert "leads out of the extension" in listed


def test_a_server_whose_code_changed_is_not_started(machine: Machine) -> None:
    servers = {"s": {"command": sys.executable, "args": ["${extensionPath}/server.py"]}}
    directory = write_extension(
        machine.extensions / "demo", manifest={"mcpServers": servers}, files={"server.py": SERVER}
    )
    assert machine.run("trust", "--yes").code == 0
    script = script_answer(calls=[("s__a", {})]) + text_script("ok")
    assert "unset" in machine.ask("-y", script=script).stdout + machine.recording.read_text()
    with (directory / "server.py").open("a") as file:
        file.write("# changed\n")
    listed = machine.run("mcp", "list")
    assert "server.py of the extension demo changed" in listed.stdout
    assert not list(directory.rglob("__pycache__"))


def test_entries_of_the_user_are_laid_over_servers(machine: Machine) -> None:
    mark = machine.base / "mark"
    server = {"command": sys.executable, "args": ["${extensionPath}/server.py"], "trust": True}
    servers, others = {"s": {**server, "includeTools": ["a", "b"]}}, {"s": {"command": "touch", "args": [str(mark)]}}
    write_extension(machine.extensions / "demo", manifest={"mcpServers": servers}, files={"server.py": SERVER})
    write_extension(machine.extensions / "other", manifest={"mcpServers": others})
    machine.write_user_settings(mcpServers={"s": {"excludeTools": ["b"]}})
    machine.write_project_settings(mcpServers=others)
    assert machine.run("trust", "--yes").code == 0
    script = script_answer(calls=[("s__a", {}), ("s__b", {}), ("s__c", {})]) + text_script("ok")
    result = machine.ask("-y", "-o", "json", script=script)
    by_name = result.json["stats"]["tools"]["byName"]
    assert by_name["s__a"]["success"] == 1
    assert not mark.exists()
    assert "extension other" in result.stderr
    assert "settings.json" in result.stderr
    asked = machine.ask("-o", "json", script=script)
    assert [denied["tool_name"] for denied in asked.json["permission_denials"]][:1] == ["s__a"]


class TestRules:
    OF_061 = """\
[[rule]]
name = "a"
description = "b"
toolName = "write_file"
decision = "deny"
deny_message = "never"
subagent = "x"

[[rule]]
mcpName = "*"
toolAnnotations = { readOnlyHint = true }
decision = "deny"

[[rule]]
toolName = "read_file"
decision = "allow"

[[safety_checker]]
toolName = "list_directory"
[safety_checker.checker]
type = "external"
name = "my-checker"
"""

    def test_files_of_061(self, machine: Machine) -> None:
        write_extension(machine.extensions / "demo", files={"policies/p.toml": self.OF_061})
        listed = machine.run("policy", "list")
        assert listed.code == 0, listed.stderr
        assert "rules of an extension can only restrict" in listed.stdout
        explained = machine.run("policy", "explain", "list_directory", "path=.")
        assert explained.stdout.startswith("ask")
        assert "demo/policies/p.toml:18" in explained.stdout

    def test_a_mistake_breaks_the_extension_only(self, machine: Machine) -> None:
        files = {"policies/p.toml": '[[rule]]\ntool = "glob"\ndecision = "sometimes"\n', "GEMINI.md": "CTX-7731"}
        write_extension(machine.extensions / "demo", files=files)
        write_extension(machine.extensions / "fine", files={"GEMINI.md": "CTX-8842"})
        result = machine.ask()
        assert result.code == 0
        assert "CTX-8842" in machine.recording.read_text()
        assert "CTX-7731" not in machine.recording.read_text()
        lines = [line for line in result.stderr.splitlines() if "demo is not used" in line]
        assert len(lines) == 1
        assert "p.toml:3" in lines[0]


class TestNames:
    @staticmethod
    def add(machine: Machine, *names: str) -> None:
        for name in names:
            write_extension(machine.extensions / name, files={"commands/deploy.toml": f'prompt = "PROMPT-{name}"'})

    def test_yours_keeps_its_name(self, machine: Machine) -> None:
        self.add(machine, "a", "b")
        own = machine.home / ".gemini" / "commands"
        own.mkdir()
        (own / "deploy.toml").write_text('prompt = "PROMPT-mine"')
        for name, prompt in (("deploy", "mine"), ("a:deploy", "a"), ("a.deploy", "a"), ("b:deploy", "b")):
            assert machine.ask(prompt=f"/{name}").code == 0
            assert f"PROMPT-{prompt}" in machine.recording.read_text()

    def test_a_name_of_two_extensions_is_answered_with_both(self, machine: Machine) -> None:
        self.add(machine, "a", "b")
        result = machine.ask(prompt="/deploy")
        assert result.code == 42
        assert "/a:deploy, /b:deploy" in result.stderr

    def test_a_name_of_one_extension(self, machine: Machine) -> None:
        self.add(machine, "a")
        for name in ("deploy", "a:deploy", "a.deploy"):
            machine.ask(prompt=f"/{name}")
            assert "PROMPT-a" in machine.recording.read_text()


class TestHooks:
    @staticmethod
    def add(machine: Machine, name: str, hook: dict[str, object], **files: str) -> Path:
        entry = {"matcher": "write_file", "hooks": [{"type": "command", **hook}]}
        content = {"hooks": {"BeforeTool": [entry]}}
        return write_extension(machine.extensions / name, files={"hooks/hooks.json": json.dumps(content), **files})

    def write(self, machine: Machine) -> ProgramResult:
        call = ("write_file", {"file_path": "new.txt", "content": "x"})
        return machine.ask("-y", "--trust", script=script_answer(calls=[call]) + text_script("ok"))

    def test_a_hook_in_a_directory_with_odd_names(self, machine: Machine) -> None:
        machine.extensions.mkdir(parents=True)
        deny = "#!/bin/sh\necho no from $0 >&2\nexit 2\n"
        odd = self.add(machine, "demo", {"command": "${extensionPath}/hooks/check.sh"}, **{"hooks/check.sh": deny})
        target = machine.extensions / "demo $(touch mark); x"
        odd.rename(target)
        result = self.write(machine)
        assert not (machine.project / "new.txt").exists()
        assert not (machine.project / "mark").exists()
        assert result.code == 0

    def test_a_script_that_changed_counts_as_failed(self, machine: Machine) -> None:
        directory = self.add(
            machine, "demo", {"command": "${extensionPath}/check.sh"}, **{"check.sh": "#!/bin/sh\nexit 0\n"}
        )
        self.write(machine)
        assert (machine.project / "new.txt").exists()
        (machine.project / "new.txt").unlink()
        (directory / "check.sh").write_text("#!/bin/sh\nexit 0 # changed\n")
        self.write(machine)
        assert not (machine.project / "new.txt").exists()
        assert "check.sh of the extension demo changed" in machine.recording.read_text()

    @pytest.mark.parametrize("hook", [{"type": "plugin", "name": "x"}, {"command": "eval ${extensionPath}"}, {}])
    def test_what_cannot_run_breaks_the_extension(self, machine: Machine, hook: dict[str, object]) -> None:
        directory = self.add(machine, "demo", hook)
        directory.rename(machine.extensions / "with blank")
        result = self.write(machine)
        assert result.code == 0
        assert "demo is not used" in result.stderr
        assert (machine.project / "new.txt").exists()

    def test_disabled_by_its_full_name(self, machine: Machine) -> None:
        self.add(machine, "demo", {"name": "check", "command": "exit 2"})
        machine.write_user_settings(hooksConfig={"disabled": ["demo:check"]})
        self.write(machine)
        assert (machine.project / "new.txt").exists()


def test_bad_extensions_leave_the_rest_working(machine: Machine) -> None:
    for name in ("a-manifest", "b-hooks", "c-link", "d-none", "e-name", "f-name"):
        (machine.extensions / name).mkdir(parents=True)
    (machine.extensions / "a-manifest/gemini-extension.json").write_text("{" * 1000)
    write_extension(machine.extensions / "b-hooks", files={"hooks/hooks.json": '{"hooks": {"Nothing": []}'})
    write_extension(machine.extensions / "c-link")
    (machine.extensions / "c-link/GEMINI.md").symlink_to("/etc/passwd")
    (machine.extensions / "d-none/file").write_text("x")
    write_extension(machine.extensions / "e-name", manifest={"name": "same"})
    write_extension(machine.extensions / "f-name", manifest={"name": "same"})
    write_extension(
        machine.extensions / "g-cycle", files={"GEMINI.md": "CTX-1 @./a.md", "a.md": "CTX-2 @./GEMINI.md @../x.md"}
    )
    os.mkfifo(machine.extensions / "pipe")
    result = machine.ask()
    assert result.code == 0
    assert "CTX-2" in machine.recording.read_text()
    left_out = [line for line in result.stderr.splitlines() if "is not used" in line]
    assert len(left_out) == 5, result.stderr


def test_themes_are_selectable(machine: Machine) -> None:
    theme = {"name": "night", "type": "custom", "background": {"primary": "#101010"}, "text": {"primary": "#eeeeee"}}
    write_extension(machine.extensions / "demo", manifest={"themes": [theme]})
    machine.write_user_settings(ui={"theme": "night (demo)"})
    assert machine.ask().stderr.count("theme") == 0


def test_settings_of_the_machine_block(machine: Machine) -> None:
    write_extension(machine.extensions / "demo", files={"GEMINI.md": "CTX-7731"})
    write_settings(machine.home, {"security": {"allowedExtensions": ["^https://example.com/"]}})
    result = machine.ask()
    assert result.code == 0
    assert "CTX-7731" not in machine.recording.read_text()
    assert "demo is blocked" in result.stderr
