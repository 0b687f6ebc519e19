from tejat.core.messages.declaration import Kind
from tejat.policy.evaluation.call import Call
from tejat.policy.evaluation.pattern_index import LiteralIndex, PatternIndex
from tejat.policy.evaluation.shell_call import ShellCall
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import CallFacts, Decision, PolicyRule, Tier


def rule(arguments: str | None = None, *, command_pattern: str | None = None, path: str | None = None) -> PolicyRule:
    return PolicyRule(Decision.DENY, Tier.USER, "x", arguments=arguments, command_pattern=command_pattern, path=path)


def found(call: Call, *rules: PolicyRule) -> list[int]:
    return sorted(position for position, _ in PatternIndex(enumerate(rules)).candidates(call))


def line(text: str) -> ShellCall:
    parsed = parse_command_line(text)
    facts = CallFacts("run_shell_command", Kind.EXECUTE, {"command": text}, ("/r",), "/h", line=parsed, directory="/r")
    return ShellCall(facts, parsed)


def test_rules_are_found_by_the_text_they_need() -> None:
    rules = (rule(arguments="push origin"), rule(command_pattern="git log|rm -rf"), rule(arguments="absent"))
    assert found(line("git push origin"), *rules) == [0]
    assert found(line("ls; rm -rf x"), *rules) == [1]
    assert found(line("ls"), *rules) == []


def test_quotes_between_words_do_not_hide_a_text() -> None:
    assert found(line("git 'push' origin"), rule(arguments="git push origin")) == [0]
    assert found(line("/usr/bin/git log"), rule(command_pattern="git log")) == [0]


def test_json_spells_control_characters_with_letters() -> None:
    assert found(line("echo 'a\nbcd'"), rule(arguments=r"\\nbcd")) == [0]


def test_paths() -> None:
    call = Call(CallFacts("write_file", Kind.EDIT, {}, ("/r",), "/h", paths=("/r/secret/a",)))
    assert found(call, rule(path="secret/**"), rule(path="other/**"), rule(path="*")) == [0, 2]


def test_what_is_not_understood_is_always_a_candidate() -> None:
    unknown = (rule(arguments="(?i)absent"), rule(arguments="("), rule(command_pattern="(?=x)"), rule(path="{absent"))
    assert found(line("ls"), *unknown) == [0, 1, 2, 3]


def test_a_long_text_is_searched_for_few_literals() -> None:
    index = LiteralIndex()
    index.add(0, rule(), (("needle", "hay"),))
    index.add(1, rule(), (("absent",),))
    assert [position for position, _ in index.find("hay " * 1000 + "needle")] == [0]
    assert [position for position, _ in index.find("a needle, hay")] == [0]
    assert list(index.find("needle")) == []
