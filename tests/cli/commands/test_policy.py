"""`tejat policy`: the questions a person asks about the rules, answered by real rules and a real parser."""

import json
import os
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tejat.cli.commands import policy as policy_command
from tejat.config.paths import AppPaths, SourceTier, app_paths
from tejat.config.policy_files import read_policy_files
from tejat.config.saved_rules import read_saved_rules, revoke_all_rules, revoke_rule, save_rules
from tejat.core.agent.options import PolicyOptions
from tejat.core.approval.modes import ApprovalMode
from tejat.core.approval.policy_report import PolicyCaseResult, PolicyExplanation, RuleListing
from tejat.core.errors import UsageError
from tejat.core.messages.declaration import Kind
from tejat.core.messages.types import Params
from tejat.policy.engine import PolicyEngine
from tejat.policy.rules.case_file import run_cases
from tejat.policy.rules.rule_file import parse_rules
from tejat.policy.rules.rule_format import format_rule
from tejat.policy.rules.tool_lists import rules_from_allowed_tools
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts, PolicyRule, PolicyVerdict, Tier

SHELL = "run_shell_command"
KINDS = {SHELL: Kind.EXECUTE, "read_file": Kind.READ}
TIERS = {SourceTier.ADMIN: Tier.ADMIN, SourceTier.USER: Tier.USER, SourceTier.WORKSPACE: Tier.WORKSPACE}


class Rules:
    """The rules of a home directory and some roots."""

    def __init__(self, places: AppPaths, flags: PolicyOptions) -> None:
        self.places = places
        self.flags = flags
        written = [
            rule
            for text in read_policy_files(places, flags.roots)
            for rule in parse_rules(text.text, source=text.path, tier=TIERS[text.tier])
        ]
        self.policy = PolicyEngine(
            [*written, *rules_from_allowed_tools(flags.allowed_tools)], ApprovalMode(flags.mode or "default")
        )

    def judge(self, tool: str, arguments: Params) -> PolicyVerdict:
        if tool not in KINDS:
            raise UsageError(f"there is no tool {tool!r}")
        command = arguments.get("command")
        line = parse_command_line(command) if isinstance(command, str) else None
        return self.policy.decide(
            CallFacts(tool, KINDS[tool], arguments, self.flags.roots, "/home", line=line, directory=self.flags.roots[0])
        )

    def decide(self, tool: str, arguments: Params, *, subagent: str = "") -> PolicyExplanation:
        assert not subagent
        verdict = self.judge(tool, arguments)
        command = arguments.get("command")
        line = parse_command_line(command) if isinstance(command, str) else None
        return PolicyExplanation(
            verdict.decision,
            format_rule(verdict.rule) if verdict.rule else None,
            verdict.source,
            verdict.reason,
            tuple(" ".join(found.words) for found in line.commands) if line else (),
            line.doubts if line else (),
            *self.mode,
        )

    @property
    def mode(self) -> tuple[str, str]:
        return self.policy.mode.value, self.policy.mode_source

    def argument_type(self, tool: str, argument: str) -> str | None:
        return {"limit": "integer", "is_background": "boolean"}.get(argument)

    def rules(self) -> Sequence[RuleListing]:
        ids = {f"{self.places.saved_rules}:{saved.line}": saved.id for saved in read_saved_rules(self.places)}

        def listed(rule: PolicyRule) -> RuleListing:
            identifier = ids.get(rule.source)
            return RuleListing(rule.tier.name.lower(), format_rule(rule), rule.source, identifier, rule.passed_over)

        return [listed(rule) for rule in self.policy.rules if rule.tier is not Tier.DEFAULT]

    def problems(self) -> Sequence[str]:
        return ["the project is not trusted"] if "untrusted" in self.flags.roots else []

    def revoke(self, which: str) -> str:
        return revoke_rule(self.places, which)

    def revoke_all(self) -> Sequence[str]:
        return revoke_all_rules(self.places)

    def check(self, text: str, source: str) -> Sequence[PolicyCaseResult]:
        return [
            PolicyCaseResult(
                case.source,
                f"{case.tool} {json.dumps(case.arguments)}",
                case.problem or case.expected,
                self.decide(case.tool, case.arguments),
                case.passed,
            )
            for case in run_cases(text, self.judge, source=source)
        ]


@pytest.fixture
def places(tmp_path: Path) -> AppPaths:
    return app_paths({"HOME": str(tmp_path / "home")})


class Shell:
    """Runs the command for one home directory."""

    def __init__(self, places: AppPaths, capture: pytest.CaptureFixture[str]) -> None:
        self._places = places
        self._capture = capture

    def __call__(self, *words: str) -> tuple[int, str, str]:
        """The exit code, and what was printed and complained."""

        @contextmanager
        def open_rules(flags: PolicyOptions) -> Generator[Rules]:
            yield Rules(self._places, flags)

        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(policy_command, "open_policy", open_rules)
                code = policy_command.run(list(words))
        except SystemExit as stop:
            code = int(stop.code or 0)
        printed = self._capture.readouterr()
        return code, printed.out, printed.err


@pytest.fixture
def policy(places: AppPaths, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(places, capsys)


def allow(places: AppPaths, command: str) -> str:
    """Save an allowed command and return its id."""
    save_rules(places, f'[[rule]]\ntool = "{SHELL}"\ncommand = "{command}"\ndecision = "allow"\n')
    return read_saved_rules(places)[-1].id


def deny(places: AppPaths, command: str) -> str:
    path = Path(places.gemini) / "policies" / "deny.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'# mine\n[[rule]]\ntool = "{SHELL}"\ncommand = "{command}"\ndecision = "deny"\n')
    return f"{path}:2"


class TestExplain:
    def test_for_programs(self, policy: Shell, places: AppPaths) -> None:
        allow(places, "git log")
        code, printed, complaint = policy("explain", SHELL, '{"command": "git log"}', "--json")
        assert (code, complaint, printed.count("\n")) == (0, "", 1)
        assert json.loads(printed) == {
            "decision": "allow",
            "rule": f"allow {SHELL}: git log",
            "source": f"{places.saved_rules}:4",
            "reason": f"The rule `allow {SHELL}: git log` allows it.",
            "commands": ["git log"],
            "doubts": [],
            "mode": "default",
            "mode_source": "default",
            "scripts": [],
        }

    def test_for_people(self, policy: Shell, places: AppPaths) -> None:
        source = deny(places, "git push")
        code, printed, complaint = policy("explain", SHELL, "command=git log | xargs git push; echo $HOME > x")
        assert (code, complaint) == (0, "")
        lines = printed.splitlines()
        assert lines[0].startswith("deny: ")
        assert lines[1:3] == [f"  rule:   deny {SHELL}: git push", f"  source: {source}"]
        assert lines[3:5] == ["  mode:   default", "  commands in the line:"]
        assert "  ├─ git log" in lines
        assert any(line.endswith("git push") and line.startswith("  ├─ ") for line in lines)
        doubts = lines.index("  not a plain command line:")
        assert lines[doubts - 1].startswith("  └─ ")
        assert lines[-1].startswith("  └─ ")

    def test_hidden_characters_are_shown_and_lines_stay_in_the_tree(self, policy: Shell) -> None:
        code, printed, _ = policy("explain", SHELL, "command=printf '\x1b[2J\u202e\n  source: fake'")
        assert code == 0
        assert "\x1b" not in printed
        assert "\u202e" not in printed
        assert "<U+001B>" in printed
        assert "\n       source: fake" in printed
        assert "\n  source: fake" not in printed

    def test_the_flags_of_a_run(self, policy: Shell, tmp_path: Path) -> None:
        def decision(*words: str) -> str:
            code, printed, complaint = policy("explain", "--json", *words)
            assert (code, complaint) == (0, "")
            return json.loads(printed)["decision"]

        line = (SHELL, "command=git log")
        assert decision(*line) == "ask"
        assert decision(*line, "--allowed-tools", "read_file", "--allowed-tools", "ShellTool(git log)") == "allow"
        assert decision("--allowed-tools", "read_file,ShellTool(git log)", *line) == "allow"
        assert decision(*line, "--approval-mode", "yolo") == "allow"
        rules = tmp_path / "project" / ".gemini" / "policies" / "a.toml"
        rules.parent.mkdir(parents=True)
        rules.write_text('[[rule]]\ntool = "read_file"\ndecision = "deny"\n')
        assert decision("read_file", '{"path": "a"}') == "allow"
        assert decision("read_file", "--root", str(tmp_path), "--root", str(rules.parents[2]), "path=a") == "deny"

    def test_no_name_of_a_file_passes_for_a_line_of_ours(self, policy: Shell, places: AppPaths) -> None:
        path = Path(places.gemini) / "policies" / "a\n  rule:   fake.toml"
        path.parent.mkdir(parents=True)
        path.write_text('[[rule]]\ntool = "read_file"\ndecision = "deny"\n')
        assert "\n  rule:   fake" not in policy("explain", "read_file")[1]
        assert "\n  rule:   fake" not in policy("list")[1]
        assert f"{path}:1" in json.loads(policy("explain", "read_file", "--json")[1])["source"]

    def test_typed_arguments(self, policy: Shell, places: AppPaths) -> None:
        path = Path(places.gemini) / "policies" / "a.toml"
        path.parent.mkdir(parents=True)
        path.write_text('[[rule]]\ntool = "read_file"\narguments = \'"limit":5\'\ndecision = "deny"\n')
        assert json.loads(policy("explain", "--json", "read_file", "limit=5")[1])["decision"] == "deny"
        assert json.loads(policy("explain", "--json", "read_file", "limit=6")[1])["decision"] == "allow"

    def test_flags_inside_values_mean_nothing(self, policy: Shell) -> None:
        code, printed, _ = policy("explain", SHELL, "command=x --approval-mode yolo", "--json")
        assert (code, json.loads(printed)["decision"]) == (0, "ask")

    @pytest.mark.parametrize(
        ("words", "complaint"),
        [
            ([], "the following arguments are required: TOOL"),
            (["missing"], "there is no tool 'missing'"),
            ([SHELL, "git log"], "Invalid argument 'git log'. Use one JSON object, or key=value words."),
            ([SHELL, "{"], "The arguments are not valid JSON: "),
            ([SHELL, "is_background=perhaps"], "is_background must be boolean, not 'perhaps'"),
            ([SHELL, "--approval-mode", "all"], "must be one of default, auto_edit, yolo, plan, not 'all'"),
            ([SHELL, "--approval", "yolo"], "Unknown option --approval for `tejat policy explain`."),
            ([SHELL, "--allowed-tools", "ShellTool(git"], "ShellTool(git"),
        ],
    )
    def test_bad_usage(self, policy: Shell, words: list[str], complaint: str) -> None:
        code, printed, complained = policy("explain", *words)
        assert (code, printed) == (2, "")
        assert complaint in complained

    def test_a_broken_rule_file_is_named(self, policy: Shell, places: AppPaths) -> None:
        path = Path(places.gemini) / "policies" / "a.toml"
        path.parent.mkdir(parents=True)
        path.write_text("\n[[rule]]\ndecision = 'maybe'\n")
        code, printed, complaint = policy("explain", SHELL, "command=git log")
        assert (code, printed) == (52, "")
        assert complaint.startswith("tejat: ")
        assert str(path) in complaint


class TestList:
    def test_by_tier_with_ids(self, policy: Shell, places: AppPaths) -> None:
        source = deny(places, "git push")
        first, second = allow(places, "git log"), allow(places, "git diff")
        code, printed, complaint = policy("list")
        assert (code, complaint) == (0, "")
        saved = places.saved_rules
        assert printed.splitlines() == [
            "mode: default",
            "user",
            f"            deny {SHELL}: git push   {source}",
            f"  {first}  allow {SHELL}: git log   {saved}:4",
            f"  {second}  allow {SHELL}: git diff  {saved}:9",
        ]

    def test_for_programs(self, policy: Shell, places: AppPaths) -> None:
        identifier = allow(places, "git log")
        code, printed, complaint = policy("list", "--json", "--root", "untrusted")
        assert (code, complaint) == (0, "")
        assert json.loads(printed) == {
            "mode": "default",
            "mode_source": "default",
            "rules": [
                {
                    "tier": "user",
                    "rule": f"allow {SHELL}: git log",
                    "source": f"{places.saved_rules}:4",
                    "id": identifier,
                    "remark": None,
                    "description": None,
                }
            ],
            "problems": ["the project is not trusted"],
        }

    def test_problems_go_elsewhere(self, policy: Shell) -> None:
        told = "tejat: the project is not trusted\n"
        assert policy("list", "--root", "untrusted") == (0, "mode: default\n", told)

    def test_why_a_rule_does_not_count_stands_below_it(self, policy: Shell, places: AppPaths) -> None:
        path = Path(places.gemini) / "policies" / "a.toml"
        path.parent.mkdir(parents=True)
        path.write_text('[[rule]]\ncommandRegex = "git .*"\ndecision = "allow"\n')
        assert policy("list")[1].splitlines()[2:] == [
            f'            allow {SHELL}, command like "git .*"  {path}:1',
            "            └─ commandRegex cannot allow commands: use commandPrefix",
        ]


class TestRevoke:
    def test_one(self, policy: Shell, places: AppPaths) -> None:
        first, second = allow(places, "git log"), allow(places, "git diff")
        code, printed, complaint = policy("revoke", first)
        assert (code, complaint) == (0, "")
        assert printed.startswith("revoked: [[rule]]\n")
        assert [saved.id for saved in read_saved_rules(places)] == [second]
        assert json.loads(policy("explain", "--json", SHELL, "command=git log")[1])["decision"] == "ask"

    def test_all(self, policy: Shell, places: AppPaths) -> None:
        allow(places, "git log")
        allow(places, "git diff")
        assert policy("revoke", "--all")[1].count("revoked: ") == 2
        assert read_saved_rules(places) == []
        assert policy("revoke", "--all") == (0, "Nothing to revoke.\n", "")

    @pytest.mark.parametrize(
        ("words", "complaint"),
        [
            ([], "tejat: Give the id of a saved rule, or --all. List the ids with `tejat policy list`.\n"),
            (
                ["12345678", "--all"],
                "tejat: Give the id of a saved rule, or --all. List the ids with `tejat policy list`.\n",
            ),
            (
                ["12345678"],
                "tejat: Nothing was revoked: no saved rule '12345678'. List them with `tejat policy list`.\n",
            ),
        ],
    )
    def test_bad_usage(self, policy: Shell, places: AppPaths, words: list[str], complaint: str) -> None:
        allow(places, "git log")
        assert policy("revoke", *words) == (2, "", complaint)
        assert len(read_saved_rules(places)) == 1


CASES = f"""
[[case]]
command = "git log"
expect = "allow"

[[case]]
tool = "{SHELL}"
arguments = {{ command = "git push" }}
expect = "deny"
"""


class TestTest:
    def test_all_as_expected(self, policy: Shell, places: AppPaths, tmp_path: Path) -> None:
        deny(places, "git push")
        allow(places, "git log")
        (tmp_path / "cases.toml").write_text(CASES)
        assert policy("test", f"{tmp_path}/cases.toml") == (0, "2 of 2 cases passed\n", "")

    def test_one_is_not(self, policy: Shell, places: AppPaths, tmp_path: Path) -> None:
        allow(places, "git log")
        (tmp_path / "cases.toml").write_text(CASES)
        code, printed, complaint = policy("test", f"{tmp_path}/cases.toml")
        assert (code, complaint) == (1, "")
        lines = printed.splitlines()
        assert lines[0] == f'failed: {tmp_path}/cases.toml:6: {SHELL} {{"command": "git push"}}'
        assert lines[1].startswith("  ├─ expected deny, got ask: ")
        assert lines[2:] == [f"  └─ by ask {SHELL} (built-in)", "1 of 2 cases passed"]

    def test_flags(self, policy: Shell, places: AppPaths, tmp_path: Path) -> None:
        deny(places, "git push")
        (tmp_path / "cases.toml").write_text(CASES)
        assert policy("test", f"{tmp_path}/cases.toml")[0] == 1
        assert policy("test", f"{tmp_path}/cases.toml", "--allowed-tools", "ShellTool(git log)")[0] == 0

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("", "has no [[case]] table. Nothing to test."),
            ("[[case]]\nexpect = 'no'\n", "cases.toml"),
            ("[[", "cases"),
        ],
    )
    def test_bad_files(self, policy: Shell, tmp_path: Path, text: str, complaint: str) -> None:
        (tmp_path / "cases.toml").write_text(text)
        code, printed, complained = policy("test", f"{tmp_path}/cases.toml")
        assert (code, printed) == (2, "")
        assert complaint in complained

    def test_no_file(self, policy: Shell, tmp_path: Path) -> None:
        path = f"{tmp_path}/missing.toml"
        assert policy("test", path) == (2, "", f"tejat: File not found: {path}\n")
        assert policy("test", str(tmp_path)) == (2, "", f"tejat: Could not read {tmp_path}: not a regular file.\n")


class TestHelp:
    @pytest.mark.parametrize("command", ["explain", "list", "revoke", "test"])
    def test_each(self, policy: Shell, command: str) -> None:
        code, printed, complaint = policy(command, "--help")
        assert (code, complaint) == (0, "")
        assert printed.startswith(f"usage: tejat policy {command} ")
        assert f"tejat policy {command} " in policy("--help")[1]

    def test_the_whole(self, policy: Shell) -> None:
        assert policy("--help") == policy("-h")
        assert policy("--help")[0] == 0

    @pytest.mark.parametrize("words", [[], ["unheard-of"], ["--json"]])
    def test_no_such_command(self, policy: Shell, words: list[str]) -> None:
        code, printed, complaint = policy(*words)
        assert (code, printed) == (2, "")
        assert complaint.startswith(("tejat: Missing command.", "tejat: Unknown "))
        assert complaint.endswith("Run `tejat policy --help` for usage.\n")


class TestTheWholeProgram:
    """The same through the real command, with the tools and settings of a run."""

    def tejat(self, home: Path, *words: str) -> tuple[int, str, str]:
        """Run it in a project beside the home directory."""
        project = home.parent / "project"
        project.mkdir(exist_ok=True)
        own = (
            "HOME",
            "XDG_CONFIG_HOME",
            "XDG_STATE_HOME",
            "GEMINI_CLI_HOME",
            "TEJAT_ADMIN_DIRECTORY",
            "GEMINI_SANDBOX",
        )
        done = subprocess.run(
            [sys.executable, "-m", "tejat", "policy", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=project,
            env={**{name: value for name, value in os.environ.items() if name not in own}, "HOME": str(home)},
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def test_a_saved_answer_from_its_list_to_its_end(self, places: AppPaths) -> None:
        home = Path(places.home)
        identifier = allow(places, "git log")
        explain = ("explain", "--json", SHELL, "command=git log")
        code, printed, complaint = self.tejat(home, *explain)
        assert (code, complaint) == (0, "")
        found = json.loads(printed)
        assert (found["decision"], found["source"]) == ("allow", f"{places.saved_rules}:4")
        assert json.loads(self.tejat(home, "explain", "--json", SHELL, "command=git push")[1])["decision"] == "ask"
        listed = json.loads(self.tejat(home, "list", "--json")[1])["rules"]
        assert [rule["id"] for rule in listed if rule["tier"] == "user"] == [identifier]
        assert self.tejat(home, "revoke", identifier) == (0, f"revoked: allow {SHELL}: git log\n", "")
        assert json.loads(self.tejat(home, *explain)[1])["decision"] == "ask"

    def test_settings_count(self, places: AppPaths) -> None:
        home = Path(places.home)
        path = home / ".gemini" / "settings.json"
        path.parent.mkdir(parents=True)
        path.write_text('{\n  "tools": {"allowed": ["ShellTool(git log)"]},\n"excludeTools": ["ShellTool(git push)"] }')
        allowed = json.loads(self.tejat(home, "explain", "--json", SHELL, "command=git log")[1])
        assert (allowed["decision"], allowed["source"]) == ("allow", f"{path}:2 (tools.allowed)")
        denied = json.loads(self.tejat(home, "explain", "--json", SHELL, "command=git push")[1])
        assert (denied["decision"], denied["source"]) == ("deny", f"{path}:3 (tools.exclude)")
        path.write_text('{"excludeTools": "glob"}')
        code, printed, complaint = self.tejat(home, "list")
        assert (code, printed) == (52, "")
        assert complaint == (
            f"tejat: Error in {path}: line 1: excludeTools must be a list of strings, not 'glob'\n"
            f"Please fix {path} and try again.\n"
        )

    def test_cases(self, places: AppPaths, tmp_path: Path) -> None:
        deny(places, "git push")
        (tmp_path / "cases.toml").write_text(CASES)
        code, printed, complaint = self.tejat(Path(places.home), "test", f"{tmp_path}/cases.toml")
        assert (code, complaint) == (1, "")
        assert printed.startswith(f"failed: {tmp_path}/cases.toml:2: {SHELL} ")
        assert printed.endswith("1 of 2 cases passed\n")

    def test_bad_usage(self, places: AppPaths) -> None:
        assert self.tejat(Path(places.home), "explain", "unheard_of")[0] == 2
        assert self.tejat(Path(places.home), "explain")[0] == 2
        assert self.tejat(Path(places.home), "unheard-of")[0] == 2
