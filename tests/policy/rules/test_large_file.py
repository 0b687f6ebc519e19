"""Large rule files give the same rules, and the same errors, as their tables do one by one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.policy.errors import PolicyError
from tejat.policy.rules.lazy_rules import LazyRules
from tejat.policy.rules.rule_file import parse_rules, parse_rules_once
from tejat.policy.rules.rule_list import RuleList
from tejat.policy.types import PolicyRule, Tier

_LINES = (
    'commandPrefix = "git status"',
    'commandPrefix = "rm"',
    'commandPrefix = "a && b"',
    'commandPrefix = "A=1 x"',
    'commandPrefix = "say \\"x y\\""',
    'commandPrefix = ["git log", "ls"]',
    'command = "npm run"',
    'command = "x | y"',
    'commandRegex = "tool\\\\s+--force"',
    'commandRegex = "a(?=b)"',
    'commandRegex = "("',
    'argsPattern = "\\"file_path\\":\\"secret/[a-z]+"',
    'argsPattern = "\\\\0\\"file_path\\":\\"a\\"\\\\0"',
    'argsPattern = "\\": \\""',
    "argsPattern = 'x'",
    'path = "src/**"',
    'path = "../x"',
    'path = "{a"',
    'toolName = "run_shell_command"',
    'toolName = ["read_file", "write_file"]',
    'toolName = "web_fetch"',
    'mcpName = "s"',
    "priority = 5",
    "priority = 12",
    "priority = 1000",
    "priority = 007",
    'message = "no"',
    'denyMessage = "never"',
    'name = "n"',
    'name = ""',
    'description = "what"',
    'modes = ["yolo"]',
    "interactive = true",
    "toolAnnotations = {readOnlyHint = true}",
    'project = "/p"',
    'match = ["git status"]',
    "# a comment",
    "# [[rule]]",
    "",
    'unknown = "x"',
)
_COMMON = st.sampled_from(
    (
        ('toolName = "run_shell_command"', 'commandPrefix = "git status"', "priority = 5"),
        ('commandPrefix = "ls"', 'description = "d"', "priority = 7"),
        ('toolName = "write_file"', 'argsPattern = "a[a-z]+\\\\.py"'),
        ('commandRegex = "x +y"', 'message = "m"'),
        ('path = "a/*.txt"', 'name = "p"'),
    )
)
_DECISIONS = st.sampled_from(("allow", "deny", "ask_user", "ask"))


@st.composite
def _tables(draw: st.DrawFn) -> str:
    lines = [*draw(_COMMON)] if draw(st.integers(0, 9)) else draw(st.lists(st.sampled_from(_LINES), max_size=5))
    lines = draw(st.permutations([*lines, f'decision = "{draw(_DECISIONS)}"']))
    return "[[rule]]\n" + "\n".join(lines) + draw(st.sampled_from(("\n", "\n\n", "\n# end\n")))


@settings(max_examples=60, deadline=None)
@given(st.lists(_tables(), min_size=2, max_size=12), st.sampled_from(("", "# rules\n\n", "\n")))
def test_a_large_file_is_read_as_its_tables_are(tables: list[str], before: str) -> None:
    tables = (tables * 100)[:120]
    text = before + "".join(tables)
    try:
        expected = _parse_one_by_one(tables, before.count("\n"))
    except PolicyError:
        with pytest.raises(PolicyError):
            parse_rules(text, source="f", tier=Tier.USER)
        return
    assert parse_rules(text, source="f", tier=Tier.USER) == expected


def _parse_one_by_one(tables: list[str], line: int) -> list[PolicyRule]:
    rules: list[PolicyRule] = []
    for table in tables:
        rules += parse_rules("\n" * line + table, source="f", tier=Tier.USER)
        line += table.count("\n")
    return rules


def _many(*lines: str) -> str:
    return "".join(
        "[[rule]]\n" + "\n".join(lines).replace("NUMBER", str(number)) + '\ndecision = "deny"\n\n'
        for number in range(150)
    )


def test_rules_of_one_kind_have_one_representative() -> None:
    rules = parse_rules_once(_many('commandPrefix = "git sNUMBER"', "priority = NUMBER"), "f", Tier.USER)
    assert isinstance(rules, LazyRules)
    assert (len(rules.representatives), rules.table_count, len(rules)) == (1, 150, 150)
    assert (rules[3].command, rules[3].priority, rules[3].source) == (("git", "s3"), 3, "f:16")
    assert [rule.priority for rule in rules[1:3]] == [1, 2]


def test_an_error_names_the_line() -> None:
    text = _many('commandPrefix = "git sNUMBER"') + '[[rule]]\ndecision = "maybe"\n'
    with pytest.raises(PolicyError, match=r"f:602: decision must be"):
        parse_rules(text, source="f", tier=Tier.USER)


def test_examples_are_checked_for_every_rule() -> None:
    text = _many('commandPrefix = "git s1"', 'match = ["git s1"]').replace('"git s1"\nmatch', '"git s2"\nmatch', 1)
    with pytest.raises(PolicyError, match=r"f:3: match: 'git s1'"):
        parse_rules(text, source="f", tier=Tier.USER)


@pytest.mark.parametrize(
    "line", ['argsPattern = "a\0b\\\\c"', 'commandPrefix = "a\0"', "# \x07", 'name = "\x07"', 'commandPrefix = "a\tb"']
)
def test_control_characters_are_left_to_the_parser(line: str) -> None:
    sample = parse_or_error(f'[[rule]]\n{line}\ncommandRegex = "x"\ndecision = "deny"\n')
    assert parse_or_error(_many(line, 'commandRegex = "x"')) == sample


def parse_or_error(text: str) -> object:
    try:
        rule = parse_rules(text, source="f", tier=Tier.USER)[0]
    except PolicyError:
        return PolicyError
    return rule.arguments, rule.command, rule.name


def test_a_string_over_two_tables_is_left_to_the_parser() -> None:
    rules = parse_rules(_many('message = """'), source="f", tier=Tier.USER)
    assert len(rules) == 75
    assert {rule.message for rule in rules} == {'decision = "deny"\n\n[[rule]]\nmessage = '}


def test_lists_join_files_and_rules() -> None:
    many = parse_rules_once(_many('commandPrefix = "git sNUMBER"'), "f", Tier.USER)
    other = tuple(many[:2])
    rules = RuleList((many, RuleList((other,))))
    assert (len(rules), rules.table_count, len(rules.representatives)) == (152, 152, 3)
    assert list(rules) == [*many, *other] == [rules[index] for index in range(152)]
    assert rules[150:] == other


def test_other_tables_are_left_to_the_parser() -> None:
    checker = '[[safety_checker]]\ntoolName = "write_file"\n[safety_checker.checker]\ntype = "in-process"\nname = "x"\n'
    text = _many('commandPrefix = "git sNUMBER"')
    assert len(parse_rules(text + checker, source="f", tier=Tier.USER)) > 150
    assert len(parse_rules(checker + text, source="f", tier=Tier.USER)) > 150
