import sys
from pathlib import Path
from types import FrameType

import pytest

from tejat.core.approval.modes import ApprovalMode
from tejat.core.frozen import replace
from tejat.core.messages.declaration import Kind
from tejat.engine.calls.path_lookup import FileSystemLookup
from tejat.policy.engine import PolicyEngine
from tejat.policy.evaluation.rule_index import RuleIndex
from tejat.policy.evaluation.rule_match import RuleMatch
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.evaluation.shell_evaluator import ShellRuleEvaluator
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts, Decision, PolicyRule, Tier

SHELL = "run_shell_command"
ALLOW_LOG = PolicyRule(Decision.ALLOW, Tier.USER, "u:1", SHELL, command=("git", "log"))
DENY_PUSH = PolicyRule(Decision.DENY, Tier.USER, "u:2", SHELL, command=("git", "push"))
ASK_ALL = PolicyRule(Decision.ASK, Tier.USER, "u:3", SHELL)


def evaluator(text: str) -> ShellRuleEvaluator:
    line = parse_command_line(text)
    return ShellRuleEvaluator(
        ShellCall(CallFacts(SHELL, Kind.EXECUTE, {"command": text}, ("/r",), "/h", line=line), line)
    )


def found(text: str, *rules: PolicyRule) -> list[tuple[str, PolicyRule | None]]:
    return [
        (" ".join(rule_match.command.words), rule_match.rule)
        for rule_match in evaluator(text).evaluate(RuleIndex(rules))
        if rule_match.command
    ]


def test_every_command_is_judged_on_its_own() -> None:
    assert found("git log; git push; ls", ALLOW_LOG, DENY_PUSH) == [
        ("git log", ALLOW_LOG),
        ("git push", DENY_PUSH),
        ("ls", None),
    ]
    assert found("git log; ls", ALLOW_LOG, ASK_ALL) == [("git log", ASK_ALL), ("ls", ASK_ALL)]


def test_equal_commands_are_judged_once() -> None:
    assert found("ls; git log; ls", ALLOW_LOG) == [("ls", None), ("git log", ALLOW_LOG)]


def test_rules_can_be_added_after_the_first_evaluation() -> None:
    call, index = evaluator("git log; git push"), RuleIndex([ALLOW_LOG])
    assert [match.rule for match in call.evaluate(index)] == [ALLOW_LOG, None]
    assert [match.rule for match in call.evaluate(index, [DENY_PUSH])] == [ALLOW_LOG, DENY_PUSH]
    assert [match.rule for match in call.evaluate(index)] == [ALLOW_LOG, None]


def test_a_line_without_commands_is_judged_as_a_whole() -> None:
    assert [rule_match.rule for rule_match in evaluator("").evaluate(RuleIndex([ALLOW_LOG, DENY_PUSH]))] == [None]
    assert [rule_match.rule for rule_match in evaluator("").evaluate(RuleIndex([ASK_ALL]))] == [ASK_ALL]
    assert [
        rule_match.rule
        for rule_match in evaluator("").evaluate(RuleIndex([PolicyRule(Decision.ALLOW, Tier.USER, "x", SHELL)]))
    ] == [None]


def test_the_gap_is_that_of_a_rule_for_the_command() -> None:
    call = evaluator("git log --output=x")
    other = PolicyRule(Decision.ALLOW, Tier.USER, "u:9", SHELL, command=("ls",))
    assert [rule_match.coverage_gap for rule_match in call.evaluate(RuleIndex([ALLOW_LOG, other]))] == [
        "it writes a file (--output), which the rule does not mention"
    ]
    assert [rule_match.coverage_gap for rule_match in evaluator("git status").evaluate(RuleIndex([ALLOW_LOG]))] == [
        None
    ]
    assert [rule_match.coverage_gap for rule_match in evaluator("git -C x log").evaluate(RuleIndex([ALLOW_LOG]))] == [
        "it does not start with the words of the rule"
    ]


def test_the_suggestion_covers_what_is_uncovered() -> None:
    call = evaluator("git log; ls -l")
    listing = PolicyRule(Decision.ALLOW, Tier.USER, "your answer", SHELL, command=("ls",))
    assert call.suggest_rules(call.evaluate(RuleIndex([ALLOW_LOG]))) == (listing,)
    assert call.suggest_rules(call.evaluate(RuleIndex([]))) == (replace(listing, command=("git", "log")), listing)
    assert isinstance(call.suggest_rules([RuleMatch(None)]), str)


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ("ls", False),
        ("git status | head -3", False),
        ("cat a > /dev/null", False),
        ("touch a", True),
        ("ls; touch a", True),
        ("ls > a", True),
        ("ls $X", True),
        ("env ls", True),
        ("", True),
        ("&&", True),
    ],
)
def test_plan_mode_objects_to_what_may_change_something(text: str, objects: bool) -> None:
    assert (evaluator(text).plan_mode_objection() is not None) == objects


def test_the_first_command_that_is_not_covered() -> None:
    index, more = RuleIndex([ALLOW_LOG]), replace(ALLOW_LOG, command=("ls",))
    for text in ("git log; ls; rm x; mv a b", "git log; ls", "rm x", "", "git log > a; ls", "ls $X"):
        matches = evaluator(text).evaluate(index, [more])
        expected = next((rule_match for rule_match in matches if not rule_match.is_allowed), None)
        assert evaluator(text).find_uncovered(index, [more]) == expected


@pytest.mark.parametrize(
    ("words", "limit"),
    [
        ("cd d{0}", 100),
        ("cp a{0} b{0}", 165),
        ("ln -s a{0} ./b{0}", 130),
        ("mv a{0} /tmp/b{0}", 100),
        ("sed -i s/a/b/ a{0}", 115),
        ("cat d{0}/a", 130),
        ("echo {0} > a{0}", 115),
    ],
)
def test_functions_called_for_each_command(tmp_path: Path, words: str, limit: int) -> None:
    """What depends on the program, the options or the directory alone is done once for all commands of a line."""
    engine = PolicyEngine([ALLOW_LOG, DENY_PUSH], ApprovalMode.DEFAULT)
    _count_calls(engine, words, range(10), tmp_path)
    calls = _count_calls(engine, words, range(100, 600), tmp_path)
    assert calls / 500 <= limit


def _count_calls(engine: PolicyEngine, words: str, numbers: range, root: Path) -> int:
    text = "; ".join(words.format(number) for number in numbers)
    count = 0

    def watch(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        line = parse_command_line(text)
        facts = CallFacts(SHELL, Kind.EXECUTE, {"command": text}, (str(root),), "/h", line=line, directory=str(root))
        verdict = engine.decide(replace(facts, lookup=FileSystemLookup()))
    finally:
        sys.setprofile(before)
    assert verdict.decision is Decision.ASK
    return count
