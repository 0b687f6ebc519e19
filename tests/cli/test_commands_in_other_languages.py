"""What commands say in a language that nobody speaks: no English word of ours is left."""

import json
import os
import sys
from errno import ECONNREFUSED, ENOENT, EROFS
from pathlib import Path

import pytest

from support.program import ProgramEnv, ProgramResult, script_answer
from support.terminal.pseudo_locale import find_english, pseudo_environment
from tejat.tools import load_declarations

SERVER = Path(__file__).parents[1] / "mcp" / "official_server.py"
TRUSTING = {"security": {"folderTrust": {"enabled": False}}}

# Nobody's to translate: what is typed or named, and what the system says.
NAMES = (
    *(os.strerror(number) for number in (ENOENT, ECONNREFUSED, EROFS)),
    *("allow", "ask", "deny", "stdio", "http", "bubblewrap", "landlock", "tejat mcp test", "tejat mcp auth"),
    *("list_directory", "read_file", "search_file_content", "glob", "read_many_files", "list_background_processes"),
    *("read_background_output", "google_web_search", "web_fetch", "run_shell_command", "write_file", "replace"),
    *("save_memory", "stop_background_process", "default, auto_edit, yolo, plan", "plan", "default"),
)


class Speaking:
    """A machine whose program speaks that language."""

    def __init__(self, base: Path, settings: object, policy: str = "") -> None:
        base.mkdir(exist_ok=True)
        self.machine = ProgramEnv(base)
        self._language = pseudo_environment(base / "words")
        own = self.machine.home / ".gemini"
        (own / "policies").mkdir(parents=True)
        (own / "settings.json").write_text(settings if isinstance(settings, str) else json.dumps(settings))
        if policy:
            (own / "policies" / "own.toml").write_text(policy)

    def left(self, *words: str, allowed: tuple[str, ...] = ()) -> list[str]:
        """The English words in what a command says."""
        done = self.run(*words)
        said = done.stdout + done.stderr
        assert said.strip()
        home = str(self.machine.home / ".gemini")
        files = (
            f"{home}/settings.json",
            f"{home}/policies/own.toml",
            str(self.machine.project),
            str(self.machine.base),
        )
        return find_english(said, (*NAMES, *files, *allowed))

    def run(self, *words: str) -> ProgramResult:
        return self.machine.run(*words, **self._language)


def test_doctor(tmp_path: Path) -> None:
    speaking = Speaking(tmp_path / "base", {})
    checks = speaking.run("doctor", "--json").json
    # For programs it is as it always was.
    groups = {check["group"] for check in checks} - {"user"}  # root is warned
    assert groups == {"sandbox", "programs", "model", "policy", "files", "trust", "terminal"}
    assert {"in use", "files", "network", "processes", "control files", "secrets"} <= {
        check["name"] for check in checks
    }
    assert not any("ø" in text for check in checks for text in (check["group"], check["name"]))
    paths = [check["how"] for check in checks if check["how"].startswith("/")]
    programs = ("git", "rg", "auto", "gemini-3.1-pro-preview", "LANG=C.UTF-8", "utf-8")
    commands = [check["fix"] for check in checks if check.get("fix", "").startswith(("export ", "tejat "))]
    assert speaking.left("doctor", allowed=(*paths, *programs, *commands)) == []


def test_doctor_about_settings(tmp_path: Path) -> None:
    settings = {
        "general": {"vimmode": 1},
        "ui": {"hideContextSummary": True, "theme": 7},
        "tools": {"usePty": True},
        "showCitations": 1,
    }
    speaking = Speaking(tmp_path / "base", settings)
    keys = (
        "general.vimmode",
        "general.vimMode",
        "ui.hideContextSummary",
        "ui.theme",
        "tools.usePty",
        "ui.showCitations",
        "showCitations",
    )
    for words in (["--setup"], ["--strict-settings"]):
        said = speaking.run("doctor", *words).stdout
        lines = [line for line in said.splitlines() if any(key in line for key in keys)]
        assert len(lines) == 5
        places = ("~/.gemini/settings.json", str(speaking.machine.home / ".gemini" / "settings.json"))
        assert find_english("\n".join(lines), (*keys, *places, "Gemini CLI")) == []


LINES = [
    "rm -rf x",
    "git push --force",
    "git -c alias.x=y log",
    "find . -delete",
    "sed -i s/a/b/ x",
    "date 0101",
    "uniq a b",
    "echo $(date)",
    "echo a > out",
    "cat <<E\nx\nE",
    "eval x",
    "env FOO=1 sh -c 'curl x | sh'",
    "sudo make",
    "f() { x; }",
    "a=1 b",
    "cd .. && ls",
    "if x; then y; fi",
    "set -k",
    "xargs rm",
    "echo 'a",
    "[[ a -eq b ]]",
    "((a=1))",
    "ls\r",
]


@pytest.mark.parametrize("line", LINES)
def test_explaining_a_line(tmp_path: Path, line: str) -> None:
    speaking = Speaking(tmp_path / "base", {})
    words = sorted({word for word in line.replace("'", " ").split() if word.isascii()}, key=len, reverse=True)
    names = (
        "alias",
        "curl",
        "FOO",
        "date",
        "echo",
        "log",
        "push",
        "force",
        "delete",
        "find",
        "env",
        "sudo",
        "make",
        "eval",
    )
    names = (*names, "cat", "set", "xargs", "uniq", "sed", "then", "out", "git")
    assert (
        speaking.left("policy", "explain", "run_shell_command", json.dumps({"command": line}), allowed=(*words, *names))
        == []
    )


def test_explaining_other_calls(tmp_path: Path) -> None:
    speaking = Speaking(tmp_path / "base", {})
    path = str(speaking.machine.project / ".git" / "config")
    change = json.dumps({"file_path": path, "content": "x"})
    assert speaking.left("policy", "explain", "write_file", change, allowed=(path,)) == []
    assert speaking.left("policy", "explain", "write_file", change, "--approval-mode", "plan", allowed=(path,)) == []
    assert speaking.left("policy", "explain", "nope", "{}", allowed=("nope",)) == []


def test_rules(tmp_path: Path) -> None:
    rules = """
[[rule]]
tool = "*"
server = "*"
decision = "ask"

[[rule]]
tool = "run_shell_command"
command = "make all"
decision = "allow"
allowRedirection = true
network = true
modes = ["default"]
arguments = "x"
project = "/abc"

[[rule]]
path = "*.txt"
decision = "deny"
"""
    settings = {"tools": {"core": ["read_file", "run_shell_command(ls)"]}, "mcp": {"allowed": []}}
    speaking = Speaking(tmp_path / "base", settings, rules)
    names = (declaration["name"] for declaration in load_declarations())
    own = ("make all", "txt", "abc", "tools.core", "mcp.allowed", "default", "activate_skill", *names)
    assert speaking.left("policy", "list", allowed=own) == []
    assert "ø" not in speaking.run("policy", "list", "--json").stdout
    (speaking.machine.project / "cases.toml").write_text('[[case]]\ncommand = "ls"\nexpect = "deny"\nrule = "abc"\n')
    assert speaking.left("policy", "test", "cases.toml", allowed=("cases.toml", "command", *own)) == []
    assert speaking.left("policy", "revoke", "abcdef", allowed=("abcdef",)) == []


@pytest.mark.parametrize(
    ("settings", "own"),
    [
        ("[", ()),
        ('{"a": 1, "a": 2}', ()),
        ('{"model": 5}', ("model",)),
        ('{"tools": {"allowed": 3}}', ("tools.allowed",)),
        ('{"tools": {"sandbox": "maybe"}}', ("tools.sandbox", "maybe")),
        ('{"tools": {"allowed": ["run_shell_command(a|b)"]}}', ("tools.allowed",)),
        ('{"tools": {"discoveryCommand": "a | b"}}', ("tools.discoveryCommand",)),
        ('{"mcpServers": {"x": {"args": 5}}}', ("mcpServers.x.args",)),
    ],
)
def test_settings_that_are_wrong(tmp_path: Path, settings: str, own: tuple[str, ...]) -> None:
    speaking = Speaking(tmp_path / "base", settings)
    is_for_runs = "mcp" in settings or "sandbox" in settings
    assert is_for_runs or speaking.run("policy", "list").code != 0 or speaking.run("tools", "list").code != 0
    script = speaking.machine.script(script_answer(say="..."))
    assert speaking.left("-p", "x", "--model", script, "--trust", allowed=own) == []


@pytest.mark.parametrize(
    ("policy", "own"),
    [
        ('[[rule]]\ntool = "a"\n', ()),
        ('[[rule]]\ndecision = "maybe"\n', ("maybe",)),
        ('[[rule]]\ndecision = "allow"\ncomand = "x"\n', ("comand", "command")),
        ('[[rule]]\ndecision = "allow"\npriority = 9999\n', ("priority",)),
        ('[[rule]]\ndecision = "deny"\npath = "a["\n', ("path",)),
        ('[[rule]]\ndecision = "deny"\nmodes = "foo"\n', ("foo", "default")),
        ('[[rule]]\ndecision = "deny"\ncommand = "rm"\nmatch = ["ls"]\n', ("match",)),
    ],
)
def test_rules_that_are_wrong(tmp_path: Path, policy: str, own: tuple[str, ...]) -> None:
    speaking = Speaking(tmp_path / "base", {}, policy)
    assert speaking.run("policy", "list").code != 0
    assert speaking.left("policy", "list", allowed=own) == []


def test_hooks_that_are_wrong(tmp_path: Path) -> None:
    hooks = {"Foo": [{}], "BeforeTool": [{"hooks": [{"command": 5}]}], "disabled": [5]}
    speaking = Speaking(tmp_path / "base", {**TRUSTING, "hooks": hooks})
    script = speaking.machine.script(script_answer(say="..."))
    names = ("hooks.Foo", "hooks.BeforeTool", "hooks.disabled", "command", "BeforeTool")
    events = "SessionStart, SessionEnd, BeforeAgent, AfterAgent, BeforeModel, AfterModel, BeforeTool, AfterTool"
    more = ("PreCompress", "Notification", "BeforeToolSelection", *events.split(", "))
    assert speaking.left("-p", "x", "--model", script, allowed=(*names, *more)) == []


def test_servers(tmp_path: Path) -> None:
    servers = {
        "gone": {"command": "no-such-program"},
        "ended": {"command": "false"},
        "none": {},
        "far": {"httpUrl": "http://127.0.0.1:9/"},
        "ftp": {"httpUrl": "ftp://x/"},
        "tcp": {"tcp": "x:1"},
        "a__b": {"command": "x"},
        "silent": {"command": "sleep", "args": ["9"], "startTimeout": 300},
        "official": {"command": sys.executable, "args": [str(SERVER)]},
    }
    speaking = Speaking(tmp_path / "base", {**TRUSTING, "mcpServers": servers})
    programs = ("no-such-program", "false", "sleep", sys.executable, "ftp://x")
    allowed = (*servers, *programs)
    assert speaking.left("mcp", "list", allowed=allowed) == []
    for name in ("gone", "ended", "none", "far", "tcp", "silent", "official"):
        tools = ("official__add", "official__count")
        assert speaking.left("mcp", "test", name, allowed=(*allowed, *tools)) == [], name
    assert "ø" not in speaking.run("mcp", "list", "--json").stdout


def test_models_that_cannot_be_had(tmp_path: Path) -> None:
    speaking = Speaking(tmp_path / "base", {})
    missing = str(tmp_path / "nowhere.toml")
    assert speaking.left("-p", "x", "--model", "openai:m") == []
    assert speaking.left("-p", "x", "--model", "anthropic:m") == []
    assert speaking.left("-p", "x", "--model", "gemini:m") == []
    assert speaking.left("-p", "x", "--model", f"scripted:{missing}", allowed=(missing,)) == []
    script = speaking.machine.script("[[answer]]\nsai = 1\n")
    assert speaking.left("-p", "x", "--model", script, allowed=("sai", "say", "answer", "script.toml")) == []
