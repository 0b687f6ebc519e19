import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import replace
from tejat.core.messages.declaration import Kind
from tejat.policy.engine import PolicyEngine
from tejat.policy.rules.rule_file import parse_rules
from tejat.policy.rules.rule_format import rule_to_toml
from tejat.policy.rules.tool_lists import ToolLists, rules_from_allowed_tools, rules_from_settings
from tejat.policy.shell.command_line import CommandLine
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts, Decision, PolicyRule, PolicyVerdict, Tier

ROOT = "/w/project"
HOME = "/home/me"
SHELL = "run_shell_command"
KINDS = {
    "read_file": Kind.READ,
    "read_many_files": Kind.READ,
    "list_directory": Kind.SEARCH,
    "search_file_content": Kind.SEARCH,
    "write_file": Kind.EDIT,
    "replace": Kind.EDIT,
    "save_memory": Kind.THINK,
    "web_fetch": Kind.FETCH,
    "google_web_search": Kind.SEARCH,
    "list_background_processes": Kind.READ,
    "stop_background_process": Kind.EXECUTE,
    SHELL: Kind.EXECUTE,
    "their_tool": Kind.OTHER,
}
ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY
DEFAULT, AUTO_EDIT, YOLO, PLAN = ApprovalMode


def facts(tool: str, *paths: str, **fields: Any) -> CallFacts:
    resolved = tuple(f"{ROOT}/{path}" for path in paths)
    known: dict[str, Any] = {"arguments": {}, "roots": (ROOT,), "home": HOME, "paths": resolved}
    return CallFacts(tool, KINDS.get(tool, Kind.OTHER), **(known | fields))


def shell(text: str, **fields: Any) -> CallFacts:
    return facts(
        SHELL, **({"arguments": {"command": text}, "line": parse_command_line(text), "directory": ROOT} | fields)
    )


def rule(decision: Decision, tool: str = "*", tier: Tier = Tier.USER, **fields: Any) -> PolicyRule:
    return PolicyRule(decision, tier, f"{tier.name}:1", tool, **fields)


def command(decision: Decision, prefix: str, tier: Tier = Tier.USER, **fields: Any) -> PolicyRule:
    return rule(decision, SHELL, tier, command=tuple(prefix.split()), **fields)


def decided(given: CallFacts, *rules: PolicyRule, mode: ApprovalMode = DEFAULT) -> Decision:
    return PolicyEngine(rules, mode).decide(given).decision


FOUR_ALLOWED = rules_from_allowed_tools(["ShellTool(git log),ShellTool(ls),ShellTool(cat),ShellTool(echo)"])
NO_TOUCH = command(DENY, "touch")


def corpus(name: str) -> list[str]:
    """The lines of a file, with the pictures of control characters turned into what they stand for."""
    pictures = str.maketrans({"␤": "\n", "␍": "\r", "␀": "\0", "␛": "\x1b", "␇": "\a", "␈": "\b"})
    written = Path(__file__).with_name(name).read_text(encoding="utf-8")
    lines = [line.translate(pictures) for line in written.split("\n") if line and not line.startswith("## ")]
    return [re.sub(r"<U\+([0-9A-F]{4})>", lambda found: chr(int(found[1], 16)), line) for line in lines]


class TestCorpora:
    def test_no_bypass_is_allowed(self) -> None:
        lines = {line: shell(line) for line in corpus("bypass_lines.txt")}
        assert len(lines) >= 300
        for mode in (DEFAULT, AUTO_EDIT, PLAN):
            policy = PolicyEngine(FOUR_ALLOWED, mode)
            assert [line for line, given in lines.items() if policy.decide(given).decision is ALLOW] == []

    def test_nothing_that_destroys_is_allowed_by_a_rule_for_other_commands(self) -> None:
        lines = corpus("destructive_lines.txt")
        assert len(lines) >= 60
        allowed = [*FOUR_ALLOWED, *rules_from_allowed_tools(["ShellTool(git status),ShellTool(find),ShellTool(sort)"])]
        assert [line for line in lines if decided(shell(line), *allowed, mode=AUTO_EDIT) is ALLOW] == []

    def test_ordinary_lines_can_be_allowed(self) -> None:
        lines = corpus("ordinary_lines.txt")
        allowed = [line for line in lines if decided(shell(line), rule(ALLOW, SHELL)) is ALLOW]
        assert len(allowed) > 0.95 * len(lines) > 80


class TestDefaults:
    @pytest.mark.parametrize(
        ("tool", "decisions"),
        [
            ("read_file", (ALLOW, ALLOW, ALLOW, ALLOW)),
            ("google_web_search", (ALLOW, ALLOW, ALLOW, ALLOW)),
            ("list_background_processes", (ALLOW, ALLOW, ALLOW, ALLOW)),
            ("write_file", (ASK, ALLOW, ALLOW, DENY)),
            ("replace", (ASK, ALLOW, ALLOW, DENY)),
            ("web_fetch", (ASK, ALLOW, ALLOW, ASK)),
            ("save_memory", (ASK, ASK, ALLOW, DENY)),
            ("stop_background_process", (ASK, ASK, ALLOW, DENY)),
            ("their_tool", (ASK, ASK, ALLOW, DENY)),
        ],
    )
    def test_by_mode(self, tool: str, decisions: tuple[Decision, ...]) -> None:
        assert tuple(decided(facts(tool, "a.py"), mode=mode) for mode in ApprovalMode) == decisions

    def test_a_tool_of_a_server_asks_whatever_its_name_and_kind(self) -> None:
        for tool in ("read_file", "write_file", "web_fetch"):
            for mode in (DEFAULT, AUTO_EDIT):
                assert decided(facts(tool, server="x"), mode=mode) is ASK

    def test_no_match(self) -> None:
        assert PolicyEngine([], DEFAULT).decide(facts("their_tool")) == PolicyVerdict(
            ASK,
            None,
            "No rule allows this.",
            suggested_rules=(PolicyRule(ALLOW, Tier.USER, "your answer", "their_tool"),),
        )


class TestTiers:
    @pytest.mark.parametrize(
        ("rules", "decision"),
        [
            ([rule(ALLOW, "write_file")], ALLOW),
            ([rule(ALLOW, "write_file"), rule(ASK, "write_file")], ASK),
            ([rule(ALLOW, "write_file"), rule(ASK), rule(DENY, "write_file")], DENY),
            ([rule(ALLOW, "write_file", Tier.ADMIN), rule(DENY, "write_file", Tier.WORKSPACE)], DENY),
            ([rule(ALLOW, "write_file", Tier.ADMIN), rule(ASK, "write_file", Tier.USER)], ASK),
            ([rule(DENY, "write_file", Tier.ADMIN), rule(ALLOW, "write_file", Tier.USER)], DENY),
            ([rule(ALLOW, "write_file", Tier.WORKSPACE)], ASK),
            ([rule(ALLOW, tier=Tier.WORKSPACE)], ASK),
            ([rule(DENY, "read_file")], ASK),
        ],
    )
    def test_the_strictest_wins_and_a_workspace_only_tightens(
        self, rules: list[PolicyRule], decision: Decision
    ) -> None:
        assert decided(facts("write_file", "a"), *rules) is decision
        assert decided(facts("write_file", "a"), *reversed(rules)) is decision

    def test_case_60(self) -> None:
        rules = [
            rule(ALLOW, tier=Tier.WORKSPACE),
            NO_TOUCH,
            command(DENY, "curl", Tier.ADMIN),
        ]
        assert decided(shell("touch x"), *rules) is DENY
        assert decided(shell("curl x"), *rules) is DENY
        assert decided(shell("ls"), *rules) is ASK

    def test_the_rule_is_named_with_its_source(self) -> None:
        verdict = PolicyEngine([rule(DENY, "write_file", message="no")], DEFAULT).decide(facts("write_file", "a"))
        assert verdict == PolicyVerdict(
            DENY, rule(DENY, "write_file", message="no"), "The rule `deny write_file` denies it."
        )
        assert verdict.source == "USER:1"


class TestIdentity:
    """Case 61: a tool is its name and its server, never a text that looks like it."""

    def test_a_denied_name_elsewhere_is_another_tool(self) -> None:
        denied = rule(DENY, "write_file")
        assert decided(facts("write_file", "a"), denied, mode=YOLO) is DENY
        assert decided(facts("write_file", "a", server="x"), denied) is ASK

    def test_a_server_cannot_take_the_name_of_what_is_allowed(self) -> None:
        for tool in ("write_file", "x__write_file", "mcp__x__write_file", "WRITE_FILE"):
            assert decided(facts(tool, "a", server="x"), rule(ALLOW, "write_file")) is ASK
            assert decided(facts(tool, "a", server="x"), rule(ALLOW, "write_file", server="y")) is ASK
        assert decided(facts("write_file", "a"), rule(ALLOW, "write_file", server="*")) is ASK

    def test_servers(self) -> None:
        lists = ToolLists(mcp_allowed=("good",), mcp_excluded=("bad",))
        policy = PolicyEngine(rules_from_settings(lists, tier=Tier.USER, source="s"), DEFAULT)
        assert [policy.decide(facts("t", server=server)).decision for server in ("good", "bad", "other", None)] == [
            ASK,
            DENY,
            DENY,
            ASK,
        ]
        assert [policy.hides("t", server) for server in ("good", "bad", "other", None)] == [False, True, True, False]


class TestHiding:
    def test_what_is_denied_whatever_the_arguments(self) -> None:
        policy = PolicyEngine([rule(DENY, "write_file"), command(DENY, "rm"), rule(DENY, "glob", path="x/**")], DEFAULT)
        assert [policy.hides(tool) for tool in ("write_file", SHELL, "glob", "read_file")] == [
            True,
            False,
            False,
            False,
        ]
        assert not policy.hides("write_file", "server")

    def test_rules_of_another_mode_or_of_one_project_hide_nothing(self) -> None:
        rules = [rule(DENY, "glob", modes=frozenset({PLAN})), rule(DENY, "replace", project=ROOT)]
        assert not PolicyEngine(rules, DEFAULT).hides("glob")
        assert not PolicyEngine(rules, DEFAULT).hides("replace")
        assert PolicyEngine(rules, PLAN).hides("glob")

    def test_plan_mode_hides_what_only_changes(self) -> None:
        policy = PolicyEngine([rule(ALLOW)], PLAN)
        assert [policy.hides(tool) for tool in ("write_file", "replace", "save_memory", SHELL, "read_file")] == [
            True,
            True,
            True,
            False,
            False,
        ]


class TestOnlyReads:
    READERS = rule(ALLOW, server="db", hints=(("readOnlyHint", True),))

    def says(self, *rules: PolicyRule, mode: ApprovalMode = DEFAULT, **fields: Any) -> bool:
        given = {"server": "db", "hints": {"readOnlyHint": True}, **fields}
        return PolicyEngine(rules, mode).declares_read_only(facts("look", **given))

    def test_a_rule_for_tools_that_are_annotated_so(self) -> None:
        assert self.says(self.READERS)
        assert self.says(self.READERS, subagent="user:reader")
        assert self.says(replace(self.READERS, subagent="reader"), subagent="user:reader")
        assert self.says(replace(self.READERS, project=ROOT))

    def test_the_claim_of_the_server_alone_says_nothing(self) -> None:
        assert not self.says()
        assert not self.says(rule(ALLOW), rule(ALLOW, server="db"), rule(ALLOW, "look", server="db"))

    @pytest.mark.parametrize(
        "hints",
        [{}, {"readOnlyHint": False}, {"readOnlyHint": "true"}, {"readOnlyHint": True, "destructiveHint": True}],
    )
    def test_the_rule_alone_says_nothing(self, hints: dict[str, object]) -> None:
        assert not self.says(self.READERS, hints=hints)

    @pytest.mark.parametrize(
        "changes",
        [
            {"server": "other"},
            {"decision": ASK},
            {"decision": DENY},
            {"hints": (("readOnlyHint", False),)},
            {"hints": (("idempotentHint", True), ("readOnlyHint", True))},
            {"arguments": "x"},
            {"path": "**"},
            {"tier": Tier.WORKSPACE},
            {"tier": Tier.EXTENSION},
            {"subagent": "writer"},
            {"project": "/elsewhere"},
            {"modes": frozenset({PLAN})},
            {"passed_over": "it does not count"},
        ],
    )
    def test_other_rules(self, changes: dict[str, Any]) -> None:
        assert not self.says(replace(self.READERS, **changes), subagent="user:reader")

    def test_a_tool_that_changed_since_it_was_allowed(self) -> None:
        assert not self.says(self.READERS, definition_changed=True)

    def test_plan_mode_needs_a_rule_for_it(self) -> None:
        assert not self.says(self.READERS, mode=PLAN)
        assert self.says(replace(self.READERS, modes=frozenset({PLAN})), mode=PLAN)


class TestSecretFiles:
    @pytest.mark.parametrize("tool", ["read_file", "read_many_files", "search_file_content"])
    def test_showing_one_asks(self, tool: str) -> None:
        given = facts(tool, ".env")
        verdict = PolicyEngine((), DEFAULT).decide(given)
        assert (verdict.decision, verdict.always_ask) == (ASK, True)
        assert verdict.reason == f"{ROOT}/.env usually contains secrets, which the model would see."
        assert decided(given, mode=AUTO_EDIT) is decided(given, mode=PLAN) is ASK
        assert decided(given, mode=YOLO) is ALLOW
        assert decided(given, rule(DENY, tool), mode=YOLO) is DENY

    def test_one_among_others_asks(self) -> None:
        assert decided(facts("read_file", "a.txt", "keys/id_rsa")) is ASK
        assert decided(facts("read_file", "a.txt", ".env.example")) is ALLOW

    def test_a_rule_for_the_tool_is_not_about_them(self) -> None:
        given = facts("read_file", "sub/.env")
        assert decided(given, rule(ALLOW, "read_file")) is ASK
        assert decided(given, rule(ALLOW, "read_file"), rule(ALLOW, "read_file", path="sub/.env")) is ALLOW
        assert decided(given, rule(ALLOW, path="**/.env")) is ALLOW
        assert decided(given, rule(ALLOW, path="other/.env")) is ASK
        assert decided(given, rule(ALLOW, path="**/.env"), rule(ASK, "read_file")) is ASK

    def test_always_is_for_this_file_alone(self) -> None:
        given = facts("read_file", "odd [1]/*.env")
        (suggested,) = PolicyEngine((), DEFAULT).decide(given).suggested_rules
        assert (suggested.tool, suggested.path) == ("read_file", rf"{ROOT}/odd \[1\]/\*.env")
        assert decided(given, suggested) is ALLOW
        assert decided(facts("read_file", "odd 1/x.env"), suggested) is ASK

    def test_a_command_that_shows_one_asks(self) -> None:
        allowed = command(ALLOW, "cat")
        assert decided(shell("cat a.txt"), allowed) is ALLOW
        verdict = PolicyEngine([allowed], DEFAULT).decide(shell("cat .env"))
        assert (verdict.decision, verdict.suggested_rules) == (ASK, ())
        assert decided(shell("cat .env"), command(ALLOW, "cat .env")) is ALLOW
        assert decided(shell("cat .env"), allowed, mode=YOLO) is ALLOW

    def test_writing_one_is_like_writing_any_file(self) -> None:
        assert decided(facts("write_file", ".env"), mode=AUTO_EDIT) is ALLOW


class TestPaths:
    def test_case_11_the_file_behind_a_link_counts(self) -> None:
        denied = rule(DENY, "read_file", path="private/**")
        assert decided(facts("read_file", "private/k"), denied) is DENY
        assert decided(facts("read_file", "public/k"), denied) is ALLOW

    def test_a_path_in_a_shell_line_counts_too(self) -> None:
        rules = [rule(DENY, path="private/**"), command(ALLOW, "cat")]
        assert decided(shell("cat private/k"), *rules) is DENY
        assert decided(shell("echo x > private/k"), *rules) is DENY
        assert decided(shell("cat public/k"), *rules) is ALLOW

    def test_an_allowed_path_has_to_hold_all_of_them(self) -> None:
        allowed = rule(ALLOW, "write_file", path="src/**")
        assert decided(facts("write_file", "src/a"), allowed) is ALLOW
        assert decided(facts("write_file", "src/a", "b"), allowed) is ASK

    @pytest.mark.parametrize(
        "path",
        [
            *(".git/hooks/pre-commit", ".git/config", ".gitmodules", ".vscode/tasks.json", ".idea/x", ".envrc"),
            *(".bashrc", ".mcp.json", ".gemini/settings.json", ".tejat/x"),
        ],
    )
    def test_case_19_control_files_always_ask(self, path: str) -> None:
        for tool in ("write_file", "replace"):
            for mode in (DEFAULT, AUTO_EDIT, YOLO):
                verdict = PolicyEngine([rule(ALLOW), rule(ALLOW, tool)], mode).decide(facts(tool, path))
                assert (verdict.decision, verdict.always_ask, verdict.suggested_rules) == (ASK, True, ())
            assert decided(facts(tool, path), rule(ALLOW), mode=PLAN) is DENY
            assert decided(facts(tool, path), rule(DENY, tool), mode=YOLO) is DENY

    def test_a_tool_that_has_become_another_one_always_asks(self) -> None:
        changed = facts("their_tool", server="near", definition_changed=True)
        for mode in (DEFAULT, AUTO_EDIT, YOLO):
            verdict = PolicyEngine([rule(ALLOW), rule(ALLOW, server="near")], mode).decide(changed)
            assert (verdict.decision, verdict.always_ask, verdict.suggested_rules) == (ASK, True, ())
        assert decided(changed, rule(DENY, server="near"), mode=YOLO) is DENY
        assert decided(facts("their_tool", server="near"), rule(ALLOW, server="near")) is ALLOW

    def test_reading_them_is_free(self) -> None:
        assert decided(facts("read_file", ".git/config")) is ALLOW

    @pytest.mark.parametrize("text", ["cp a .git/hooks/x", "echo x > .envrc", "rm -rf .git", "sed -i s/a/b/ .npmrc"])
    def test_control_files_in_a_shell_line(self, text: str) -> None:
        verdict = PolicyEngine([rule(ALLOW), *FOUR_ALLOWED], YOLO).decide(shell(text))
        assert (verdict.decision, verdict.always_ask) == (ASK, True)

    def test_the_memory_tool_may_write_its_own_file(self) -> None:
        given = facts("save_memory", paths=(f"{HOME}/.gemini/GEMINI.md",))
        verdict = PolicyEngine([], DEFAULT).decide(given)
        assert decided(given, *verdict.suggested_rules) is ALLOW
        assert decided(facts("save_memory", server="x", paths=given.paths), rule(ALLOW), mode=YOLO) is ASK


class TestArguments:
    def test_a_pattern_sees_sorted_keys(self) -> None:
        denied = rule(DENY, "web_fetch", arguments='"a":1,"b":2')
        assert decided(facts("web_fetch", arguments={"b": 2, "a": 1}), denied) is DENY
        assert decided(facts("web_fetch", arguments={"b": 2, "a": 2}), denied) is ASK

    def test_case_62(self) -> None:
        policy = PolicyEngine([rule(DENY, "write_file", arguments="(a+)+$")], DEFAULT)
        given = facts("write_file", arguments={"content": "a" * 40 + "!"})
        policy.decide(given)
        started = time.process_time()
        assert policy.decide(given).decision is ASK
        assert time.process_time() - started < 0.5  # a backtracking engine needs days


class TestShellLines:
    @pytest.mark.parametrize(
        "text",
        [f"git log {operator} touch MARK" for operator in ("&&", ";", "||", "|", "&", "\n")]
        + ["(touch MARK)", "{ touch MARK; }", "if true; then touch MARK; fi", "while touch MARK; do :; done"]
        + ["for x in a; do touch MARK; done", "case a in a) touch MARK;; esac", "f() { touch MARK; }; f"]
        + ["git log $(touch MARK)", "git log `touch MARK`", "cat <(touch MARK)", 'echo "$(touch MARK)"']
        + ["echo ${x:-$(touch MARK)}", "cat <<E\n$(touch MARK)\nE", "bash -c 'touch MARK'", "env touch MARK"]
        + ["/usr/bin/touch MARK", "$'to\\x75ch' MARK", 't""ouch MARK', "sudo touch MARK", "ls | xargs touch"],
    )
    def test_cases_44_45_52_a_denied_command_is_found_anywhere(self, text: str) -> None:
        for mode in ApprovalMode:
            assert decided(shell(text), *FOUR_ALLOWED, NO_TOUCH, mode=mode) is DENY

    @pytest.mark.parametrize(
        "text",
        [
            *("echo $[ x='a[$(touch MARK)]', x ]", "[[ -v 'a[$(touch MARK)]' ]]", "test -v 'a[$(touch MARK)]'"),
            *("printf -v 'a[$(touch MARK)]' x", "read 'a[$(touch MARK)]'", "let 'a[$(touch MARK)]'"),
            *("declare -n x='a[$(touch MARK)]'", "echo ${x@P}", "git log &&& touch MARK", "eval $X", "$X MARK"),
        ],
    )
    def test_cases_46_47_what_hides_code(self, text: str) -> None:
        allowed = [*FOUR_ALLOWED, rule(ALLOW, SHELL)]
        assert decided(shell(text), *allowed) is ASK
        for denial in (NO_TOUCH, rule(DENY, SHELL, arguments="zzz"), rule(DENY, path="private/**")):
            assert decided(shell(text), *allowed, denial, mode=YOLO) is DENY
            assert decided(shell(text), *allowed, denial) is not ALLOW
        assert decided(shell(text), *allowed, mode=YOLO) is ALLOW
        assert decided(shell(text), *allowed, mode=PLAN) is DENY

    @pytest.mark.parametrize(
        "text",
        [
            *(
                "git logout",
                "git log-x",
                "'git' log",
                "g\\it log",
                "echo x > f",
                "git log --output=f",
                "PAGER=x git log",
            ),
            *(
                "PATH=. ls",
                "ls\rtouch MARK",
                "ls\u00a0x",
                "cat ~/.ssh/id_rsa",
                "ls /etc",
                "cat ../x",
                "export A=b; git log",
            ),
            *("alias ls=x", "cat $HOME", "ls *", "echo x | tee f", "", "   ", "# c", "cd .. && cat x", "cd && cat x"),
        ],
    )
    def test_cases_49_to_56_are_not_allowed(self, text: str) -> None:
        assert decided(shell(text), *FOUR_ALLOWED) is ASK
        assert decided(shell(text), *FOUR_ALLOWED, mode=AUTO_EDIT) is ASK

    @pytest.mark.parametrize("text", ["git log", "git  log -3 | cat", "ls src; echo 'a > b'", "cat a 2>/dev/null"])
    def test_what_is_allowed(self, text: str) -> None:
        assert decided(shell(text), *FOUR_ALLOWED) is ALLOW
        assert decided(shell(text), rule(ALLOW, SHELL)) is ALLOW
        assert decided(shell(text), *FOUR_ALLOWED, mode=PLAN) is ASK

    def test_case_55_a_program_of_the_workspace_is_not_the_one_that_was_meant(self) -> None:
        inside = {"git": f"{ROOT}/bin/git"}
        assert decided(shell("git log", programs=inside), *FOUR_ALLOWED) is ASK
        assert decided(shell("git log", programs={"git": "/usr/bin/git"}), *FOUR_ALLOWED) is ALLOW

    def test_case_65_a_failing_parser_fails_closed(self) -> None:
        unread = CommandLine("ls", (), (), is_plain=False, is_opaque=True, doubts=("cannot be read",), program_names=())
        assert decided(shell("ls", line=unread), rule(ALLOW, SHELL)) is ASK
        assert decided(shell("ls", line=unread), rule(ALLOW, SHELL), NO_TOUCH, mode=YOLO) is DENY

    def test_a_redirection_needs_a_rule_that_says_so(self) -> None:
        writing = command(ALLOW, "echo", allows_redirection=True)
        assert decided(shell("echo x > f"), writing) is ALLOW
        assert decided(shell("echo x > ../f"), writing) is ASK
        assert decided(shell("echo x > .envrc"), writing) is ASK

    def test_core_tools_limit_the_commands(self) -> None:
        lists = ToolLists(core=("ShellTool(git status)", "ShellTool(ls)"))
        rules = rules_from_settings(lists, tier=Tier.USER, source="s")
        for mode in (DEFAULT, AUTO_EDIT, YOLO):
            policy = PolicyEngine(rules, mode)
            assert policy.decide(shell("git status; ls")).decision is (ALLOW if mode is YOLO else ASK)
            for text in ("git push", "ls; rm x", "env ls", "eval $X", "ls $(rm x)", "", "bash -c ls"):
                assert policy.decide(shell(text)).decision is DENY, text
            assert policy.hides("read_file")
            assert not policy.hides(SHELL)


class TestNetwork:
    @pytest.mark.parametrize("given", [shell("git log", wants_network=True), facts("read_file", wants_network=True)])
    def test_it_asks_unless_the_rule_says_so(self, given: CallFacts) -> None:
        assert decided(given, *FOUR_ALLOWED) is ASK
        assert decided(given, rule(ALLOW, allows_network=True)) is ALLOW
        assert decided(given, mode=YOLO) is ALLOW
        assert decided(given, rule(DENY), mode=YOLO) is DENY

    def test_the_offer_says_so(self) -> None:
        given = shell("git log", wants_network=True)
        suggestion = PolicyEngine(FOUR_ALLOWED, DEFAULT).decide(given).suggested_rules
        assert suggestion == (
            PolicyRule(ALLOW, Tier.USER, "your answer", SHELL, command=("git", "log"), allows_network=True),
        )


class TestModes:
    def test_deny_holds_in_every_mode(self) -> None:
        for mode in ApprovalMode:
            assert decided(facts("read_file"), rule(DENY, "read_file"), rule(ALLOW), mode=mode) is DENY

    @pytest.mark.parametrize("mode", [DEFAULT, AUTO_EDIT, YOLO])
    def test_no_mode_lifts_a_rule_that_asks(self, mode: ApprovalMode) -> None:
        asking = rule(ASK, "write_file")
        assert decided(facts("write_file", "a"), asking, mode=mode) is ASK
        assert decided(facts("write_file", "a"), asking, rule(ALLOW), mode=mode) is ASK
        assert decided(shell("git push"), rule(ASK, SHELL, command=("git", "push")), mode=mode) is ASK

    @pytest.mark.parametrize(
        "line", ['eval "$x"', "$x push", "python -c 'import os'", "frob git push", 'sh -c "$x"', "echo git push | sh"]
    )
    def test_yolo_asks_where_a_rule_that_asks_cannot_be_checked(self, line: str) -> None:
        asking = command(ASK, "git push")
        verdict = PolicyEngine([asking], YOLO).decide(shell(line))
        assert (verdict.decision, verdict.suggested_rules) == (ASK, ())
        assert decided(shell(line), mode=YOLO) is ALLOW
        assert decided(shell("ls -l"), asking, mode=YOLO) is ALLOW
        assert decided(shell(line), rule(ASK, path="x"), mode=YOLO) is ALLOW

    def test_a_rule_that_asks_in_some_modes_leaves_the_others_alone(self) -> None:
        asking = rule(ASK, "write_file", modes=frozenset({DEFAULT, AUTO_EDIT}))
        assert decided(facts("write_file", "a"), asking, mode=AUTO_EDIT) is ASK
        assert decided(facts("write_file", "a"), asking, mode=YOLO) is ALLOW

    def test_yolo_lifts_what_the_built_in_rules_ask(self) -> None:
        assert decided(facts("write_file", "a"), mode=YOLO) is ALLOW
        assert decided(shell("ls"), rule(ASK, "write_file"), mode=YOLO) is ALLOW

    def test_auto_edit_allows_no_commands(self) -> None:
        assert decided(shell("ls"), mode=AUTO_EDIT) is ASK

    def test_case_59_rules_do_not_loosen_plan_mode(self) -> None:
        for rules in ([rule(ALLOW)], [rule(ALLOW, "write_file"), command(ALLOW, "touch"), command(ALLOW, "ls")]):
            assert decided(facts("write_file", "a"), *rules, mode=PLAN) is DENY
            assert decided(shell("touch x"), *rules, mode=PLAN) is DENY
            assert decided(shell("ls"), *rules, mode=PLAN) is ASK
            assert decided(facts("web_fetch"), *rules, mode=PLAN) is ASK
        explicit = frozenset({PLAN})
        assert decided(facts("web_fetch"), rule(ALLOW, "web_fetch", modes=explicit), mode=PLAN) is ALLOW
        assert decided(shell("ls"), command(ALLOW, "ls", modes=explicit), mode=PLAN) is ASK
        assert decided(shell("touch x"), command(ALLOW, "touch", modes=explicit), mode=PLAN) is DENY

    def test_the_policy_itself_never_changes(self) -> None:
        policy = PolicyEngine([], DEFAULT)
        other = policy.with_rules(rule(ALLOW)).with_mode(YOLO, source="me")
        assert (policy.mode, other.mode, len(other.rules) - len(policy.rules)) == (DEFAULT, YOLO, 1)
        assert other.with_mode(DEFAULT, source="me").decide(facts("write_file", "a")).decision is ALLOW
        assert policy.decide(facts("write_file", "a")).decision is ASK


class TestOffers:
    @pytest.mark.parametrize(
        "given",
        [
            shell("git status -s"),
            shell("ls; git status"),
            facts("write_file", "a"),
            facts("t", server="x"),
            shell("npm test"),
        ],
    )
    def test_what_is_remembered_covers_the_call(self, given: CallFacts) -> None:
        policy = PolicyEngine(FOUR_ALLOWED, DEFAULT)
        suggestion = policy.decide(given).suggested_rules
        assert suggestion
        assert policy.with_rules(*suggestion).decide(given).decision is ALLOW
        assert policy.with_rules(*suggestion).decide(shell("git push")).decision is ASK

    def test_the_neighbour_still_asks(self) -> None:
        (suggestion,) = PolicyEngine([], DEFAULT).decide(shell("git log -3")).suggested_rules
        assert decided(shell("git push"), suggestion) is ASK
        assert decided(facts("write_file", "a"), suggestion) is ASK

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("rm x", "the command deletes or overwrites data (rm)"),
            ("kill 1", "the command stops processes or the machine (kill)"),
            ("ls && rm x", "the command deletes or overwrites data (rm)"),
            ("ls > f", "it redirects to or from a file"),
            ("python -c 1", "python can run any code"),
            ("sudo ls", "sudo can run any code"),
            ("docker run x", "docker run can run any program"),
            ("cat /etc/x", "/etc/x may be outside the workspace"),
            ("pytest /etc", "/etc may be outside the workspace"),
            ("echo $X", "it contains a shell expansion"),
        ],
    )
    def test_none_where_no_rule_would_do(self, text: str, why: str) -> None:
        verdict = PolicyEngine([], DEFAULT).decide(shell(text))
        assert (verdict.suggested_rules, verdict.always_refusal) == ((), f"Always is not offered: {why}.")

    def test_the_reason_does_not_repeat_why_there_is_none(self) -> None:
        loop = PolicyEngine([], DEFAULT).decide(shell("for i in 1 2; do echo $i; done"))
        assert loop.is_routine
        assert "it uses a shell keyword (for)" in loop.reason  # for headless runs
        assert "it uses a shell keyword (for)" in loop.always_refusal
        asking = PolicyEngine([rule(ASK, "run_shell_command")], DEFAULT).decide(shell("for i in 1; do echo $i; done"))
        assert not asking.is_routine

    def test_none_where_a_rule_asks_anyway(self) -> None:
        verdict = PolicyEngine([rule(ASK, "write_file")], DEFAULT).decide(facts("write_file", "a"))
        assert verdict.suggested_rules == ()
        assert verdict.always_refusal == "Always is not offered: the rule `ask write_file` asks each time."

    def test_none_in_plan_mode(self) -> None:
        verdict = PolicyEngine([], PLAN).decide(shell("ls"))
        assert verdict.suggested_rules == ()
        assert verdict.always_refusal == "Always is not offered: plan mode asks before every command."

    @pytest.mark.parametrize(
        ("text", "rules"),
        [
            ("pytest -q", ["pytest"]),
            ("python -m pytest tests -x", ["python -m pytest"]),
            ("python3 -m unittest discover -s tests", ["python3 -m unittest"]),
            ("uv run pytest -k 'a or b'", ["uv run pytest"]),
            ("poetry run pytest", ["poetry run pytest"]),
            (".venv/bin/pytest -q", [".venv/bin/pytest"]),
            ("cd src && pytest -q | tail -5", ["cd", "pytest", "tail"]),
            ("ruff check . && mypy src", ["ruff check", "mypy"]),
            ("git status && make test", ["git status", "make test"]),
            ("npm test 2>&1 | grep FAIL", ["npm test"]),
        ],
    )
    def test_one_rule_for_each_part(self, text: str, rules: list[str]) -> None:
        policy = PolicyEngine([command(ALLOW, "grep")], DEFAULT)
        suggestion = policy.decide(shell(text)).suggested_rules
        assert [" ".join(each.command or ()) for each in suggestion] == rules
        assert policy.with_rules(*suggestion).decide(shell(text)).decision is ALLOW

    @pytest.mark.parametrize(
        ("saved", "other"),
        [
            ("python -m pytest", "python -m pip install x"),
            ("python -m pytest", "python x.py"),
            ("python -m pytest", "python -c 1"),
            ("python -m unittest", "python -m unittest -c 'import os'"),
            ("uv run pytest", "uv run python x.py"),
            ("uv run pytest", "uv run rm x"),
            ("uv run pytest", "pytest; uv run rm x"),
            ("npm test", "npm publish"),
            ("make test", "make deploy"),
            ("ruff check .", "ruff check --fix ."),
        ],
    )
    def test_a_saved_rule_covers_no_more_than_it_says(self, saved: str, other: str) -> None:
        suggestion = PolicyEngine([], DEFAULT).decide(shell(saved)).suggested_rules
        assert suggestion
        assert decided(shell(other), *suggestion) is ASK

    def test_tests_may_be_installed_in_the_project(self) -> None:
        given = shell("pytest -q", programs={"pytest": f"{ROOT}/.venv/bin/pytest"})
        suggestion = PolicyEngine([], DEFAULT).decide(given).suggested_rules
        assert decided(given, *suggestion) is ALLOW
        other = shell("wc x", programs={"wc": f"{ROOT}/bin/wc"})
        assert PolicyEngine([], DEFAULT).decide(other).suggested_rules == ()


class TestFailures:
    """Whatever goes wrong inside, nothing is let through."""

    BROKEN = rule(ALLOW, "write_file", arguments="(")

    def test_it_asks_firmly(self) -> None:
        for mode in (DEFAULT, AUTO_EDIT, YOLO):
            verdict = PolicyEngine([self.BROKEN], mode).decide(facts("write_file", "a"))
            assert (verdict.decision, verdict.always_ask, verdict.suggested_rules) == (ASK, True, ())
            assert verdict.reason.startswith("The policy could not evaluate this call (InvalidPattern: ")

    def test_it_denies_where_asking_would_be_skipped(self) -> None:
        denial = rule(DENY, "write_file", path="x/**")
        assert decided(facts("write_file", "a"), self.BROKEN, denial, mode=YOLO) is DENY
        assert decided(facts("write_file", "a"), self.BROKEN, mode=PLAN) is DENY

    def test_arguments_that_hold_themselves(self) -> None:
        arguments: dict[str, object] = {}
        arguments["again"] = [arguments]
        verdict = PolicyEngine([rule(DENY, arguments="x")], DEFAULT).decide(facts("read_file", arguments=arguments))
        assert (verdict.decision, verdict.always_ask) == (ASK, True)


LINES = [
    "git log",
    "ls; touch x",
    "rm -rf x",
    "echo $(ls)",
    "eval $X",
    "echo a > b",
    "cat /etc/passwd",
    "git -C x log",
    "",
]
CALLS = [
    *map(shell, LINES),
    shell("git log", wants_network=True),
    *(facts(tool, "src/a", arguments={"path": "a"}) for tool in KINDS if tool != SHELL),
    facts("write_file", ".git/config"),
    facts("read_file", "private/a"),
    facts("write_file", server="x"),
]
RULES = st.builds(
    PolicyRule,
    decision=st.sampled_from(Decision),
    tier=st.sampled_from(Tier),
    source=st.just("x"),
    tool=st.sampled_from(["*", SHELL, "write_file", "read_file", "their_tool"]),
    server=st.sampled_from([None, None, None, "*", "x"]),
    command=st.sampled_from([None, None, None, ("git", "log"), ("ls",), ("rm",), ("echo",), ("cat",)]),
    arguments=st.sampled_from([None, None, None, '"path"', "nothing like it"]),
    path=st.sampled_from([None, None, None, "src/**", "private/**"]),
    modes=st.sampled_from([None, None, frozenset({PLAN}), frozenset({DEFAULT, YOLO})]),
    allows_redirection=st.booleans(),
    allows_network=st.booleans(),
    priority=st.integers(0, 9),
)


@given(st.lists(RULES, max_size=5), RULES, st.sampled_from(ApprovalMode), st.sampled_from(CALLS))
@settings(max_examples=250, deadline=None)
def test_a_stricter_rule_never_loosens(
    rules: list[PolicyRule], added: PolicyRule, mode: ApprovalMode, given: CallFacts
) -> None:
    if added.decision is ALLOW and added.tier is not Tier.WORKSPACE:
        return
    policy = PolicyEngine(rules, mode)
    before, after = policy.decide(given), policy.with_rules(added).decide(given)
    assert after.decision.strictness >= before.decision.strictness
    assert after.always_ask >= before.always_ask or after.decision is DENY


@given(st.lists(RULES, max_size=5), st.sampled_from(CALLS))
@settings(max_examples=150, deadline=None)
def test_no_mode_lifts_a_denial_and_no_order_matters(rules: list[PolicyRule], given: CallFacts) -> None:
    everywhere = [PolicyRule(each.decision, each.tier, "x", each.tool, each.server, each.command) for each in rules]
    if decided(given, *everywhere) is DENY:
        assert {decided(given, *everywhere, mode=mode) for mode in ApprovalMode} == {DENY}
    for mode in ApprovalMode:
        assert decided(given, *rules, mode=mode) is decided(given, *reversed(rules), mode=mode)


@given(st.lists(RULES, max_size=5), st.sampled_from(ApprovalMode), st.sampled_from(CALLS))
@settings(max_examples=150, deadline=None)
def test_a_suggestion_keeps_its_promise(rules: list[PolicyRule], mode: ApprovalMode, given: CallFacts) -> None:
    policy = PolicyEngine(rules, mode)
    suggestions = policy.decide(given).suggested_rules
    if suggestions:
        assert policy.with_rules(*suggestions).decide(given).decision is ALLOW
    for suggestion in suggestions:
        assert parse_rules(rule_to_toml(suggestion), source="saved", tier=Tier.USER) == [
            replace(suggestion, source="saved:1")
        ]
