import json
import re
from collections.abc import Mapping

import pytest

from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import replace
from tejat.core.messages.declaration import Kind
from tejat.policy.engine import PolicyEngine
from tejat.policy.rules.conditions import escape_regex
from tejat.policy.rules.patterns import matches_regex
from tejat.policy.rules.rule_file import parse_rules
from tejat.policy.rules.rule_format import format_rule, rule_to_toml
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts, Decision, PolicyRule, Tier

ROOT = "/w/project"
ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY


def read(body: str, tier: Tier = Tier.USER) -> list[PolicyRule]:
    return parse_rules(f"[[rule]]\n{body}", source="p.toml", tier=tier)


def decide_line(line: str, *bodies: str, mode: ApprovalMode = ApprovalMode.DEFAULT) -> Decision:
    facts = CallFacts(
        tool="run_shell_command",
        kind=Kind.EXECUTE,
        arguments={"command": line},
        roots=(ROOT,),
        home="/home/me",
        line=parse_command_line(line),
        directory=ROOT,
    )
    return PolicyEngine([rule for body in bodies for rule in read(body)], mode).decide(facts).decision


def decide_file(tool: str, path: str, *bodies: str, arguments: Mapping[str, object] | None = None) -> Decision:
    facts = CallFacts(
        tool=tool,
        kind=Kind.EDIT,
        arguments={"file_path": path, "content": "x"} if arguments is None else arguments,
        roots=(ROOT,),
        home="/home/me",
        paths=(path if path.startswith("/") else f"{ROOT}/{path}",),
    )
    return PolicyEngine([rule for body in bodies for rule in read(body)], ApprovalMode.DEFAULT).decide(facts).decision


class TestCommandRegex:
    @pytest.mark.parametrize(
        "line",
        [
            "git push",
            "git push origin main",
            "ls && git push",
            "sudo git push",
            "bash -c 'git push'",
            "/usr/bin/git push",
        ],
    )
    @pytest.mark.parametrize("mode", [ApprovalMode.DEFAULT, ApprovalMode.YOLO])
    def test_a_denial_reaches_every_command_of_a_line(self, line: str, mode: ApprovalMode) -> None:
        body = 'toolName = "run_shell_command"\ncommandRegex = "git push"\ndecision = "deny"\npriority = 100'
        assert decide_line(line, body, mode=mode) is DENY

    def test_it_is_searched_from_the_start_of_a_command(self) -> None:
        assert decide_line("echo git push", 'commandRegex = "git push"\ndecision = "deny"') is ASK
        assert decide_line("echo git push", 'commandRegex = "echo .*push"\ndecision = "deny"') is DENY

    @pytest.mark.parametrize("pattern", ["^git push", "git push$", "git (push|fetch)", r"git\\s+push"])
    def test_anchors_mean_the_command(self, pattern: str) -> None:
        assert decide_line("git push", f'commandRegex = "{pattern}"\ndecision = "deny"') is DENY

    def test_a_rule_that_allows_is_passed_over(self) -> None:
        body = 'commandRegex = "git log"\ndecision = "allow"'
        (rule,) = read(body)
        assert rule.passed_over is not None
        assert "commandPrefix" in rule.passed_over
        assert decide_line("git log", body) is ASK

    def test_it_is_shown_and_written_like_any_other(self) -> None:
        (rule,) = read('commandRegex = "git push"\ndecision = "deny"')
        assert format_rule(rule) == 'deny run_shell_command, command like "git push"'
        assert parse_rules(rule_to_toml(rule), source="p.toml", tier=Tier.USER) == [rule]


class TestPatternsThatNeedBacktracking:
    @pytest.mark.parametrize("key", ["argsPattern", "commandRegex"])
    def test_a_denial_asks_about_every_call_of_the_tool(self, key: str) -> None:
        body = f'toolName = "run_shell_command"\n{key} = "rm(?!dir)"\ndecision = "deny"'
        (rule,) = read(body)
        assert (rule.decision, rule.tool, rule.arguments, rule.command_pattern) == (
            ASK,
            "run_shell_command",
            None,
            None,
        )
        assert rule.note is not None
        assert decide_line("ls", body, 'command = "ls"\ndecision = "allow"', mode=ApprovalMode.YOLO) is ASK

    def test_a_rule_that_allows_is_passed_over(self) -> None:
        (rule,) = read('toolName = "glob"\nargsPattern = "(a)\\\\1"\ndecision = "allow"')
        assert rule.passed_over is not None

    def test_the_tool_is_the_shell_without_a_name(self) -> None:
        assert [rule.tool for rule in read('commandRegex = "(?!x)"\ndecision = "deny"')] == ["run_shell_command"]


class TestPrefixesWithShellSigns:
    def test_a_denial_compares_the_characters(self) -> None:
        body = 'commandPrefix = "rm -rf *"\ndecision = "deny"'
        assert decide_line("rm -rf *", body) is DENY
        assert decide_line("rm -rf * .git", body) is DENY
        assert decide_line("rm -rf build", body) is ASK

    def test_a_rule_that_allows_is_passed_over(self) -> None:
        (rule,) = read('commandPrefix = "git log:*"\ndecision = "allow"')
        assert rule.passed_over is not None


class TestAgents:
    @pytest.mark.parametrize("agent", ["helper", "project:helper"])
    def test_a_denial_counts_for_the_calls_of_that_agent(self, agent: str) -> None:
        rules = read(f'toolName = "glob"\nsubagent = "{agent}"\ndecision = "deny"')
        assert (rules[0].subagent, rules[0].note, rules[0].passed_over) == (agent, None, None)
        engine = PolicyEngine(rules, ApprovalMode.DEFAULT)
        facts = CallFacts("glob", Kind.SEARCH, {}, (ROOT,), "/home/me")
        assert engine.decide(facts).decision is ALLOW
        assert engine.decide(replace(facts, subagent="project:other")).decision is ALLOW
        verdict = engine.decide(replace(facts, subagent="project:helper"))
        assert verdict.decision is DENY
        assert verdict.reason == f"The rule `deny glob, by the agent {agent}` denies it."

    def test_a_bare_name_allows_nothing_for_an_agent_that_anybody_could_have_named(self) -> None:
        facts = CallFacts("write_file", Kind.EDIT, {}, (ROOT,), "/home/me")
        bare = PolicyEngine(
            read('toolName = "write_file"\nsubagent = "helper"\ndecision = "allow"'), ApprovalMode.DEFAULT
        )
        for agent, expected in (("user:helper", ALLOW), ("project:helper", ASK), ("gcp:helper", ASK), ("", ASK)):
            assert bare.decide(replace(facts, subagent=agent)).decision is expected
        rules = read('toolName = "write_file"\nsubagent = "project:helper"\ndecision = "allow"')
        qualified = PolicyEngine(rules, ApprovalMode.DEFAULT)
        assert qualified.decide(replace(facts, subagent="project:helper")).decision is ALLOW
        assert qualified.decide(replace(facts, subagent="user:helper")).decision is ASK


class TestAnnotations:
    @pytest.mark.parametrize(
        ("hints", "decision"),
        [
            ({"destructiveHint": True}, DENY),
            ({"destructiveHint": False}, ASK),
            ({}, DENY),
            ({"destructiveHint": True, "title": "x"}, DENY),
        ],
    )
    def test_a_denial_counts_unless_the_server_claims_otherwise(
        self, hints: dict[str, object], decision: Decision
    ) -> None:
        rules = read('toolName = "*"\ntoolAnnotations = { destructiveHint = true }\ndecision = "deny"')
        facts = CallFacts("drop", Kind.OTHER, {}, (ROOT,), "/home/me", server="db", hints=hints)
        assert PolicyEngine(rules, ApprovalMode.YOLO).decide(facts).decision is (
            Decision.ALLOW if decision is ASK else decision
        )
        assert PolicyEngine(rules, ApprovalMode.DEFAULT).decide(facts).decision is decision

    def test_they_are_shown_and_written(self) -> None:
        (rule,) = read('mcpName = "db"\ntoolAnnotations = { readOnlyHint = true, title = "x" }\ndecision = "ask"')
        assert format_rule(rule) == 'ask every tool of server db, annotated {"readOnlyHint" = true, "title" = "x"}'
        assert parse_rules(rule_to_toml(rule), source="p.toml", tier=Tier.USER) == [rule]


def saved_pattern(name: str, value: str) -> str:
    """The pattern that Gemini CLI writes when a call with this argument is allowed for all future sessions."""
    return rf"\\0{escape_regex(json.dumps({name: value}, separators=(',', ':'))[1:-1])}\\0"


class TestSavedApprovals:
    def rule(self, tool: str, pattern: str) -> str:
        lines = (
            'decision = "allow"',
            "priority = 950",
            f'toolName = "{tool}"',
            f"argsPattern = {json.dumps(pattern)}",
            'modes = ["default", "autoEdit", "yolo"]',
        )
        return "\n".join(lines)

    @pytest.mark.parametrize("path", ["src/a b.py", "a-1.txt", "x/../y.py", f"{ROOT}/z[1].py", "ä.txt"])
    def test_one_file_is_allowed_whatever_else_the_call_says(self, path: str) -> None:
        body = self.rule("write_file", saved_pattern("file_path", path))
        assert decide_file("write_file", path.replace("x/../", ""), body) is ALLOW

    def test_no_other_file_is(self) -> None:
        body = self.rule("write_file", saved_pattern("file_path", "a.py"))
        assert decide_file("write_file", "b.py", body) is ASK
        assert decide_file("replace", "a.py", body) is ASK
        hidden = {"file_path": "b.py", "content": '{"file_path":"a.py"}', "more": {"file_path": "a.py"}}
        assert decide_file("write_file", "b.py", body, arguments=hidden) is ASK

    def test_a_path_outside_the_workspace_is_compared_as_text(self) -> None:
        (rule,) = read(self.rule("write_file", saved_pattern("file_path", "../x")))
        assert (rule.path, rule.arguments) == (None, r"\x00\"file_path\":\"\.\./x\"\x00")

    def test_other_members_are_compared_at_the_top_only(self) -> None:
        (rule,) = read(self.rule("glob", saved_pattern("pattern", "*.py")))
        assert rule.arguments is not None
        assert rule.path is None
        assert matches_regex(rule.arguments, '{\0"pattern":"*.py"\0}')
        assert not matches_regex(rule.arguments, '{"pattern":"*.py"}')

    def test_a_denial_in_the_usual_form_is_searched_in_both_forms(self) -> None:
        body = 'toolName = "write_file"\nargsPattern = "^.\\\\x00?.content"\ndecision = "deny"'
        assert decide_file("write_file", "a", body) is DENY

    def test_a_prefix_and_a_server_are_read(self) -> None:
        text = (
            '[[rule]]\ndecision = "allow"\npriority = 950\ntoolName = "run_shell_command"\ncommandPrefix = [ "git" ]\n'
            '[[rule]]\ndecision = "allow"\npriority = 950\ntoolName = "search"\nmcpName = "hub"\n'
            '[[rule]]\ndecision = "allow"\npriority = 950\ntoolName = "*"\nmcpName = "all"\n'
        )
        rules = parse_rules(text, source="auto-saved.toml", tier=Tier.USER)
        assert [(rule.tool, rule.server, rule.command) for rule in rules] == [
            ("run_shell_command", None, ("git",)),
            ("search", "hub", None),
            ("*", "all", None),
        ]


def test_a_text_is_escaped_so_that_it_matches_itself_alone() -> None:
    text = 'a-b[c]{d}(e)*f+g?h.i,j\\k^l$m|n#o p"q\t'
    assert matches_regex(f"^{escape_regex(text)}$", text)
    assert re.fullmatch(escape_regex(text), text)


class TestNames:
    def test_a_wildcard_denies_every_tool_it_fits(self) -> None:
        assert decide_file("write_file", "a", 'toolName = "write_*"\ndecision = "deny"') is DENY

    def test_a_wildcard_allows_nothing(self) -> None:
        body = 'toolName = "write_*"\ndecision = "allow"'
        assert read(body)[0].passed_over is not None
        assert decide_file("write_file", "a", body) is ASK

    def test_no_modes_are_all_modes(self) -> None:
        assert [rule.modes for rule in read('toolName = "glob"\nmodes = []\ndecision = "deny"')] == [None]
