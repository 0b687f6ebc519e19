"""The rules of a run: from files and lists of everybody, with the place of each, and the answers that are kept."""

import os
from pathlib import Path

import pytest

from tejat.config.paths import AppPaths, app_paths
from tejat.config.policy_files import read_policy_files
from tejat.config.settings.loader import load_settings
from tejat.config.settings.types import Settings
from tejat.core.agent.options import PolicyOptions
from tejat.core.approval.confirmation import Scope
from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.frozen import replace
from tejat.engine.calls.policy_loader import choose_mode, load_policy, save_answer
from tejat.policy.engine import PolicyEngine
from tejat.policy.rules.allowlist import AllowlistRule
from tejat.policy.rules.defaults import default_rules
from tejat.policy.rules.rule_format import format_rule
from tejat.policy.types import Decision, PolicyRule, Tier

SHELL = "run_shell_command"
ADMIN, USER, WORKSPACE = Tier.ADMIN, Tier.USER, Tier.WORKSPACE
ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY


class Machine:
    """A home, a project and a directory of whoever runs the machine."""

    def __init__(self, base: Path) -> None:
        self.home, self.project, self.admin = (base / name for name in ("home", "project", "admin"))
        for directory in (self.home, self.project, self.admin):
            directory.mkdir()
        self.environment = {"HOME": str(self.home), "TEJAT_ADMIN_DIRECTORY": str(self.admin)}
        self.places: AppPaths = app_paths(self.environment)

    def load(self, *allowed: str, mode: str | None = None, trusted: bool = False) -> PolicyEngine:
        roots = (str(self.project),)
        settings, options = self.settings(trusted=trusted), PolicyOptions(roots, allowed, mode)
        texts = read_policy_files(self.places, roots, settings, options)
        return load_policy(texts, settings, options, is_trusted=trusted)

    def settings(self, *, trusted: bool = False) -> Settings:
        return load_settings(self.places, (str(self.project),), trusted=trusted, environment=self.environment)

    def set(self, text: str) -> str:
        return write(self.home / ".gemini" / "settings.json", text)

    def rules(self, *allowed: str, trusted: bool = False) -> list[PolicyRule]:
        """All but the built-in ones, which always come last."""
        rules = self.load(*allowed, trusted=trusted).rules
        own = len(rules) - len(default_rules())
        assert rules[own:] == default_rules()
        return list(rules[:own])


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path.resolve())


def write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    for private in (path, path.parent):
        private.chmod(private.stat().st_mode & ~0o022)
    return str(path)


def test_nothing_written_leaves_the_built_in_rules(machine: Machine) -> None:
    assert machine.rules() == []
    assert machine.load().mode is ApprovalMode.DEFAULT


class TestFiles:
    def test_each_tier_with_file_and_line(self, machine: Machine) -> None:
        theirs = write(machine.admin / "policies" / "a.toml", '[[rule]]\ntool = "glob"\ndecision = "deny"\n')
        mine = write(
            machine.home / ".gemini" / "policies" / "a.toml",
            '\n[[rule]]\ntoolName = "write_file"\ndecision = "ask_user"\n',
        )
        ours = write(machine.home / ".config" / "tejat" / "policies" / "b.toml", '[[rule]]\ndecision = "allow"\n')
        its = write(machine.project / ".gemini" / "policies" / "c.toml", '[[rule]]\ntool="replace"\ndecision="deny"\n')
        assert machine.rules() == [
            PolicyRule(DENY, ADMIN, f"{theirs}:1", "glob"),
            PolicyRule(ASK, USER, f"{mine}:2", "write_file"),
            PolicyRule(ALLOW, USER, f"{ours}:1"),
            PolicyRule(DENY, WORKSPACE, f"{its}:1", "replace"),
        ]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ('[[rule]]\ndecision = "perhaps"\n', ":2: "),
            ('[[rule]]\ntool = "glob"\n', ":1: "),
            ("[[rule]\n", ":1: "),
            ('[[rule]]\ndecision = "deny"\narguments = "("\n', ":3: "),
        ],
    )
    def test_a_rule_that_cannot_be_used_stops_the_run(self, machine: Machine, text: str, said: str) -> None:
        path = write(machine.project / ".gemini" / "policies" / "c.toml", text)
        with pytest.raises(UsageError) as stopped:
            machine.load()
        assert str(stopped.value).startswith(path + said)


class TestTrustedServers:
    def test_all_their_tools_are_allowed_by_whoever_says_so(self, machine: Machine) -> None:
        servers = '{"mcpServers": {\n"near": {"command": "a", "trust": true},\n"far": {"command": "b"}}}'
        mine = write(machine.home / ".gemini" / "settings.json", servers)
        assert machine.rules() == [PolicyRule(ALLOW, USER, f"{mine}:2 (trust)", server="near")]

    def test_a_project_cannot_say_so(self, machine: Machine) -> None:
        write(
            machine.project / ".gemini" / "settings.json", '{"mcpServers": {"near": {"command": "a", "trust": true}}}'
        )
        assert machine.rules(trusted=True) == []


class TestLists:
    def test_each_list_with_its_place(self, machine: Machine) -> None:
        mine = write(
            machine.home / ".gemini" / "settings.json",
            '{"tools": {\n"core": ["read_file", "ShellTool(git log)"],\n"allowed": ["glob"],\n'
            '"exclude": ["EditTool"]},\n"mcp": {"allowed": ["near"], "excluded": ["far"]}}',
        )
        rules = machine.rules()
        core = [rule for rule in rules if rule.source == f"{mine}:2 (tools.core)"]
        assert {rule.tool for rule in core} >= {"glob", "write_file", "save_memory", SHELL}
        assert "read_file" not in {rule.tool for rule in core}
        assert [rule for rule in core if rule.tool == SHELL] == [
            AllowlistRule(DENY, USER, f"{mine}:2 (tools.core)", SHELL, commands=(("git", "log"),))
        ]
        assert {(rule.decision, rule.tier) for rule in core} == {(DENY, USER)}
        assert [rule for rule in rules if rule not in core] == [
            PolicyRule(ALLOW, USER, f"{mine}:3 (tools.allowed)", "glob"),
            AllowlistRule(DENY, USER, f"{mine}:5 (mcp.allowed)", server="*", servers=frozenset({"near"})),
            PolicyRule(DENY, USER, f"{mine}:4 (tools.exclude)", "replace"),
            PolicyRule(DENY, USER, f"{mine}:5 (mcp.excluded)", server="far"),
        ]

    def test_an_empty_list_of_tools_in_use_forbids_all_of_them(self, machine: Machine) -> None:
        write(machine.home / ".gemini" / "settings.json", '{"coreTools": []}')
        policy = machine.load()
        assert [policy.hides(tool) for tool in ("read_file", SHELL, "save_memory")] == [True, True, True]

    def test_an_empty_list_of_servers_forbids_all_of_them(self, machine: Machine) -> None:
        write(machine.home / ".gemini" / "settings.json", '{"allowMCPServers": []}')
        assert machine.load().hides("tool", "far") is True
        assert machine.load().hides("read_file") is False

    def test_the_lists_of_everybody(self, machine: Machine) -> None:
        its = write(
            machine.project / ".gemini" / "settings.json", '{"excludeTools": ["glob"], "allowedTools": ["write_file"]}'
        )
        theirs = write(machine.admin / "settings.json", '{"tools": {"exclude": ["ShellTool(rm)"]}}')
        assert machine.rules() == [
            PolicyRule(DENY, WORKSPACE, f"{its}:1 (tools.exclude)", "glob"),
            PolicyRule(DENY, ADMIN, f"{theirs}:1 (tools.exclude)", SHELL, command=("rm",)),
        ]

    def test_what_a_trusted_project_allows_stays_its_own_word(self, machine: Machine) -> None:
        its = write(machine.project / ".gemini" / "settings.json", '{"allowedTools": ["write_file"]}')
        assert machine.rules(trusted=True) == [PolicyRule(ALLOW, WORKSPACE, f"{its}:1 (tools.allowed)", "write_file")]

    def test_a_trusted_project_does_not_replace_what_the_user_allows(self, machine: Machine) -> None:
        mine = write(machine.home / ".gemini" / "settings.json", '{"allowedTools": ["glob"]}')
        write(machine.project / ".gemini" / "settings.json", '{"allowedTools": ["write_file"]}')
        assert machine.rules(trusted=True) == [PolicyRule(ALLOW, USER, f"{mine}:1 (tools.allowed)", "glob")]

    def test_flags_come_last(self, machine: Machine) -> None:
        mine = write(machine.home / ".gemini" / "settings.json", '{"tools": {"allowed": ["glob"]}}')
        flag = "--allowed-tools"
        assert machine.rules("EditTool,ShellTool(git log)", "far__note") == [
            PolicyRule(ALLOW, USER, f"{mine}:1 (tools.allowed)", "glob"),
            PolicyRule(ALLOW, USER, flag, "replace"),
            PolicyRule(ALLOW, USER, flag, SHELL, command=("git", "log")),
            PolicyRule(ALLOW, USER, flag, "note", "far"),
        ]

    @pytest.mark.parametrize("entry", ["write_file(x)", "ShellTool()", "ShellTool(a;b)", "a b", "ShellTool(x"])
    def test_a_flag_that_cannot_be_meant(self, machine: Machine, entry: str) -> None:
        with pytest.raises(UsageError, match=r"^--allowed-tools: "):
            machine.load(entry)

    def test_an_entry_of_the_settings_that_cannot_be_meant(self, machine: Machine) -> None:
        mine = write(machine.home / ".gemini" / "settings.json", '{\n"excludeTools": ["ShellTool(rm *)"]}')
        with pytest.raises(UsageError) as stopped:
            machine.load()
        assert str(stopped.value).startswith(f"{mine}:2 (tools.exclude): 'rm *' can never match")


class TestMode:
    @pytest.mark.parametrize("mode", list(ApprovalMode))
    def test_as_given(self, machine: Machine, mode: ApprovalMode) -> None:
        assert machine.load(mode=mode.value).mode is mode

    @pytest.mark.parametrize("mode", ["autoEdit", "YOLO", "", "none"])
    def test_no_such_mode(self, machine: Machine, mode: str) -> None:
        with pytest.raises(UsageError) as refused:
            machine.load(mode=mode)
        assert str(refused.value) == f"The mode must be one of default, auto_edit, yolo, plan, not {mode!r}."

    def test_whoever_runs_the_machine_may_switch_yolo_off(self, machine: Machine) -> None:
        write(machine.home / ".gemini" / "settings.json", '{"security": {"disableYoloMode": false}}')
        theirs = write(machine.admin / "settings.json", '{"security": {\n"disableYoloMode": true}}')
        with pytest.raises(UsageError) as refused:
            machine.load(mode="yolo")
        assert str(refused.value) == f"YOLO mode is disabled by {theirs}:2."
        assert machine.load(mode="auto_edit").mode is ApprovalMode.AUTO_EDIT


class TestSaving:
    RULE = PolicyRule(ALLOW, USER, "", SHELL, command=("git", "log"))

    @pytest.mark.parametrize("scope", [Scope.USER, Scope.PROJECT])
    def test_what_is_saved_holds_in_the_next_run(self, machine: Machine, scope: Scope) -> None:
        save_answer(machine.places, str(machine.project), [self.RULE], scope)
        (loaded,) = machine.rules()
        project = str(machine.project) if scope is Scope.PROJECT else None
        assert loaded == replace(self.RULE, source=loaded.source, project=project)
        path, _, line = loaded.source.rpartition(":")
        assert path == machine.places.saved_rules
        assert Path(path).read_text().splitlines()[int(line) - 1] == "[[rule]]"

    def test_an_answer_that_is_saved_twice_stands_once(self, machine: Machine) -> None:
        for _ in range(2):
            save_answer(machine.places, str(machine.project), [self.RULE], Scope.USER)
        assert [format_rule(rule) for rule in machine.rules()] == ["allow run_shell_command: git log"]

    def test_nowhere_to_save(self, machine: Machine) -> None:
        places = app_paths({"HOME": os.devnull})
        with pytest.raises(UsageError, match="No home directory found"):
            save_answer(places, str(machine.project), [self.RULE], Scope.USER)


class TestConfirmationRequired:
    def test_each_entry_is_a_rule_that_asks(self, machine: Machine) -> None:
        mine = machine.set(
            '{"tools": {"confirmationRequired": [\n"ReadFileTool",\n"run_shell_command(git push)",\n"a__b"]}}'
        )
        place = "(tools.confirmationRequired)"
        assert machine.rules() == [
            PolicyRule(ASK, USER, f"{mine}:2 {place}", "read_file"),
            PolicyRule(ASK, USER, f"{mine}:3 {place}", SHELL, command=("git", "push")),
            PolicyRule(ASK, USER, f"{mine}:4 {place}", "b", "a"),
        ]

    def test_the_lists_of_all_files_count(self, machine: Machine) -> None:
        machine.set('{"tools": {"confirmationRequired": ["glob"]}}')
        write(machine.project / ".gemini" / "settings.json", '{"tools": {"confirmationRequired": ["replace"]}}')
        write(machine.admin / "settings.json", '{"tools": {"confirmationRequired": ["read_file"]}}')
        rules = {(rule.tool, rule.tier) for rule in machine.rules(trusted=True)}
        assert rules == {("glob", USER), ("replace", WORKSPACE), ("read_file", ADMIN)}

    def test_a_wrong_value_stops_the_run(self, machine: Machine) -> None:
        machine.set('{"tools": {"confirmationRequired": true}}')
        with pytest.raises(ConfigurationError, match="confirmationRequired"):
            machine.load()


class TestAlways:
    def saved(self, machine: Machine) -> None:
        write(machine.home / ".config/tejat/policies/saved.toml", '[[rule]]\ntool = "glob"\ndecision = "allow"\n')
        write(
            machine.home / ".gemini/policies/auto-saved.toml",
            '[[rule]]\ntoolName = "replace"\ndecision = "allow"\npriority = 950\n',
        )
        write(
            machine.home / ".gemini/policies/mine.toml",
            '[[rule]]\ntoolName = "write_file"\ndecision = "allow"\npriority = 5\n'
            '[[rule]]\ntoolName = "save_memory"\ndecision = "deny"\npriority = 950\n',
        )

    def test_saved_answers_count(self, machine: Machine) -> None:
        self.saved(machine)
        assert {rule.passed_over for rule in machine.rules()} == {None}

    @pytest.mark.parametrize(
        "key", ['"security": {"disableAlwaysAllow": true}', '"admin": {"secureModeEnabled": true}']
    )
    def test_they_do_not_where_they_are_switched_off(self, machine: Machine, key: str) -> None:
        mine = machine.set(f"{{{key}}}")
        self.saved(machine)
        reason = f"saved approvals are disabled by {mine}:1"
        assert {rule.tool: rule.passed_over for rule in machine.rules()} == {
            "glob": reason,
            "replace": reason,
            "write_file": None,
            "save_memory": None,
        }

    def test_a_trusted_project_may_switch_them_off_and_not_on(self, machine: Machine) -> None:
        write(machine.project / ".gemini" / "settings.json", '{"security": {"disableAlwaysAllow": true}}')
        assert machine.settings(trusted=True).always_disabled.value
        machine.set('{"security": {"disableAlwaysAllow": true}}')
        write(machine.project / ".gemini" / "settings.json", '{"security": {"disableAlwaysAllow": false}}')
        assert machine.settings(trusted=True).always_disabled.value

    @pytest.mark.parametrize(
        ("mine", "its", "saves"),
        [("", "", None), ("true", "false", False), ("false", "true", False), ("true", "", True)],
    )
    def test_saving_may_be_switched_off(self, machine: Machine, mine: str, its: str, saves: bool | None) -> None:
        for place, word in ((machine.home, mine), (machine.project, its)):
            if word:
                text = f'{{"security": {{"enablePermanentToolApproval": {word}}}}}'
                write(place / ".gemini" / "settings.json", text)
        found = machine.settings(trusted=True).permanent_approval
        assert (found and found.value) is saves


class TestConseca:
    def test_every_change_asks(self, machine: Machine) -> None:
        mine = machine.set('{"security": {"enableConseca": true}}')
        assert machine.rules() == [
            PolicyRule(ASK, USER, f"{mine}:1 (security.enableConseca)", spares_reading=True),
        ]

    @pytest.mark.parametrize("mode", ["yolo", "auto_edit"])
    def test_no_mode_lifts_that(self, machine: Machine, mode: str) -> None:
        machine.set('{"security": {"enableConseca": true}}')
        with pytest.raises(ConfigurationError, match=rf"^The mode {mode} is disabled by .*settings.json:1: "):
            machine.load(mode=mode)
        machine.set('{"security": {"enableConseca": true}, "general": {"defaultApprovalMode": "auto_edit"}}')
        with pytest.raises(ConfigurationError):
            machine.load(trusted=True)


class TestAnnotations:
    RULE = '[[rule]]\ntoolName = "*"\nmcpName = "{}"\ntoolAnnotations = {{ readOnlyHint = true }}\ndecision = "{}"\n'

    def rules_for(self, machine: Machine, server: str, decision: str) -> list[PolicyRule]:
        machine.set('{"mcpServers": {"near": {"command": "a", "trust": true}, "far": {"command": "b"}}}')
        write(machine.home / ".gemini/policies/a.toml", self.RULE.format(server, decision))
        return [rule for rule in machine.rules() if rule.hints is not None]

    @pytest.mark.parametrize(("server", "counts"), [("near", ["near"]), ("*", ["near"]), ("far", [])])
    def test_they_allow_only_tools_of_trusted_servers(self, machine: Machine, server: str, counts: list[str]) -> None:
        rules = self.rules_for(machine, server, "allow")
        assert [rule.server for rule in rules if rule.passed_over is None] == counts
        assert all(rule.note for rule in rules if rule.passed_over is not None)

    def test_they_deny_tools_of_all_servers(self, machine: Machine) -> None:
        (rule,) = self.rules_for(machine, "*", "deny")
        assert (rule.server, rule.passed_over) == ("*", None)


class TestAddedRulesOfTheAdministrator:
    def test_they_allow_nothing_beside_those_of_the_machine(self, machine: Machine) -> None:
        path = write(machine.home / "a.toml", '[[rule]]\ntool = "replace"\ndecision = "allow"\n')
        machine.set('{"adminPolicyPaths": ["~/a.toml"]}')
        assert machine.rules() == [PolicyRule(ALLOW, ADMIN, f"{path}:1", "replace")]
        write(machine.admin / "policies" / "b.toml", '[[rule]]\ntool = "glob"\ndecision = "deny"\n')
        _, added = machine.rules()
        assert added.passed_over is not None
        assert added.note is not None


class TestPolicyPathsInTheWorkspace:
    def test_changing_them_asks_in_every_mode(self, machine: Machine) -> None:
        path = write(machine.project / "p.toml", '[[rule]]\ntoolName = "glob"\ndecision = "deny"\npriority = 1\n')
        mine = machine.set('{"policyPaths": ["p.toml"]}')
        _, protecting = machine.rules()
        assert protecting == PolicyRule(ASK, USER, f"{mine}:1 (policy files)", path=path, spares_reading=True)

    def test_a_project_cannot_name_any(self, machine: Machine) -> None:
        write(machine.project / ".gemini" / "settings.json", '{"policyPaths": ["gone"], "adminPolicyPaths": ["gone"]}')
        assert machine.rules(trusted=True) == []


class TestDefaultMode:
    @pytest.mark.parametrize(
        ("mine", "its", "trusted", "mode"),
        [
            ("plan", None, True, "plan"),
            ("plan", None, False, "plan"),
            ("auto_edit", None, True, "auto_edit"),
            ("auto_edit", None, False, "default"),
            ("auto_edit", "default", True, "default"),
            ("auto_edit", "plan", True, "plan"),
            ("plan", "auto_edit", True, "plan"),
            ("plan", "default", True, "plan"),
            (None, "auto_edit", True, "default"),
            (None, "plan", True, "plan"),
            (None, "plan", False, "default"),
            ("yolo", None, True, "default"),
            ("yolo", "plan", True, "plan"),
        ],
    )
    def test_a_project_may_only_tighten(
        self, machine: Machine, mine: str | None, its: str | None, trusted: bool, mode: str
    ) -> None:
        for place, word in ((machine.home, mine), (machine.project, its)):
            if word:
                write(place / ".gemini" / "settings.json", f'{{"general": {{"defaultApprovalMode": "{word}"}}}}')
        assert machine.load(trusted=trusted).mode == mode

    def test_its_source_is_known(self, machine: Machine) -> None:
        mine = machine.set('{\n"general": {"defaultApprovalMode": "plan"}}')
        assert machine.load().mode_source == f"{mine}:2"
        assert machine.load(mode="default").mode_source == "--approval-mode"

    def test_the_older_name(self, machine: Machine) -> None:
        machine.set('{"tools": {"approvalMode": "plan"}}')
        assert machine.load().mode is ApprovalMode.PLAN

    def test_yolo_in_a_file_is_reported(self, machine: Machine) -> None:
        machine.set('{"general": {"defaultApprovalMode": "yolo"}}')
        assert [problem.key for problem in machine.settings().problems] == ["general.defaultApprovalMode"]

    def test_another_word_stops_the_run(self, machine: Machine) -> None:
        machine.set('{"general": {"defaultApprovalMode": "careful"}}')
        with pytest.raises(ConfigurationError, match=r"general\.defaultApprovalMode"):
            machine.load()

    @pytest.mark.parametrize("key", ['"security": {"disableYoloMode": true}', '"admin": {"secureModeEnabled": true}'])
    def test_yolo_that_is_switched_off_is_an_error_of_the_configuration(self, machine: Machine, key: str) -> None:
        mine = machine.set(f"{{{key}}}")
        with pytest.raises(ConfigurationError) as raised:
            machine.load(mode="yolo")
        assert str(raised.value) == f"YOLO mode is disabled by {mine}:1."

    def test_a_flag_counts_in_an_untrusted_folder_and_says_so(self) -> None:
        for mode in ("auto_edit", "yolo"):
            choice = choose_mode(Settings(), mode, is_trusted=False)
            told = f"This folder is not trusted. Using mode {mode}, as requested."
            assert (choice.mode, choice.notes) == (mode, (told,))
            assert choose_mode(Settings(), mode, is_trusted=True).notes == ()
        assert choose_mode(Settings(), "plan", is_trusted=False).notes == ()

    def test_plan_holds_where_it_is_switched_off(self, machine: Machine) -> None:
        mine = machine.set('{"general": {"plan": {"enabled": false}, "defaultApprovalMode": "plan"}}')
        choice = choose_mode(machine.settings(), None, is_trusted=True)
        note = f"Using plan mode although {mine}:1 sets general.plan.enabled to false."
        assert (choice.mode, choice.notes) == (ApprovalMode.PLAN, (note,))
