"""Scripts as people write them: everything that may stand in one, and what is said about anything else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.errors import UsageError
from tejat.core.model import FailureKind, FinishReason, Usage
from tejat.models.scripted.script_file import Script, ScriptedAnswer, ScriptedCall, parse_script

WHOLE = """
context_window = 5000

[[answer]]
when = "fix"
think = "Hm."
say = "I look around."
pause = 0.5
usage = { prompt = 1, cached = 2, output = 3, thoughts = 4, tool = 5 }
finish = "other"
detail = "for a reason"

[[answer.call]]
name = "list_directory"
id = "one"
args = { path = "${root}", deep = [1, 2.5, true, { inner = "${root}/x" }] }
expect = ["calc.py", "${root}"]

[[answer.call]]
name = "read_file"
expect_error = "not found"

[[answer]]
purpose = "compression"
say = "Short."

[[answer]]
fail = "unavailable"
retry_after = 2
detail = "Down."
"""


def read(text: str) -> Script:
    return parse_script(text, file="s.toml", placeholders={"${root}": "/r"})


def test_everything_that_a_script_may_say() -> None:
    assert read(WHOLE) == Script(
        (
            ScriptedAnswer(
                1,
                when="fix",
                think="Hm.",
                say="I look around.",
                calls=(
                    ScriptedCall(
                        "list_directory",
                        {"path": "/r", "deep": [1, 2.5, True, {"inner": "/r/x"}]},
                        "one",
                        ("calc.py", "/r"),
                        must_fail=False,
                    ),
                    ScriptedCall("read_file", {}, None, ("not found",), must_fail=True),
                ),
                pause=0.5,
                finish=FinishReason.OTHER,
                detail="for a reason",
                usage=Usage(1, 2, 3, 4, 5),
            ),
            ScriptedAnswer(2, purpose="compression", say="Short."),
            ScriptedAnswer(3, detail="Down.", fail=FailureKind.UNAVAILABLE, retry_after=2),
        ),
        context_window=5000,
    )


CALL = '[[answer]]\n[[answer.call]]\nname = "t"\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no [[answer]] found"),
        ("anser = 'x'", "unknown key 'anser'; did you mean 'answer'?"),
        ("[answer]\nsay = 'x'", "answer can be repeated: write [[answer]] instead of [answer]"),
        ("[[answer]]\n[[topic]]\n[[topic.answer]]", "a script has either [[answer]] or [[topic]] tables, not both"),
        ("[[topic]]\nwhen = 'x'", "topic 1: the topic has no [[topic.answer]]"),
        ("[[topic]]\nwhen = []\n[[topic.answer]]", "topic 1: when must be a non-empty string or a list of them"),
        ("[[topic]]\n[[topic.answer]]\nwhen = 'x'", "topic 1: answer 1: unknown key 'when'; did you mean 'think'?"),
        (
            "[[topic]]\n[[topic.answer]]\n[[topic.answer.call]]\nname = 'glob'",
            "topic 1: the last answer of a topic must not make calls, because no answer follows them",
        ),
        ("answer = 3", "answer must be written as tables [[answer]]"),
        ("answer = [3]", "answer must be written as tables [[answer]]"),
        ("context_window = 1.5\n[[answer]]", "context_window must be an integer from 0 to 1000000000000"),
        ("[[answer]]\n[[answer]]\nsya = 'x'", "answer 2: unknown key 'sya'; did you mean 'say'?"),
        ("[[answer]]\nsay = ['x']", "answer 1: say must be a string"),
        ("[[answer]]\npause = -1", "answer 1: pause must be a number of seconds from 0 to 3600"),
        ("[[answer]]\npause = nan", "answer 1: pause must be a number of seconds from 0 to 3600"),
        ("[[answer]]\npause = true", "answer 1: pause must be a number of seconds from 0 to 3600"),
        (
            "[[answer]]\nfinish = 'soon'",
            "answer 1: finish must be one of stop, max_tokens, blocked, malformed_call, other",
        ),
        (
            "[[answer]]\nfinish = 3",
            "answer 1: finish must be one of stop, max_tokens, blocked, malformed_call, other",
        ),
        ("[[answer]]\nretry_after = 1", "answer 1: retry_after needs fail"),
        ("[[answer]]\nfail = 'empty'\nfinish = 'stop'", "answer 1: an answer with fail cannot have finish"),
        ("[[answer]]\nusage = 3", "answer 1: usage must be a table"),
        (
            "[[answer]]\nusage = { input = 3 }",
            "answer 1: usage: unknown key 'input'; did you mean 'output'?",
        ),
        (
            "[[answer]]\nusage = { prompt = -1 }",
            "answer 1: usage: prompt must be an integer from 0 to 1000000000000",
        ),
        ("[[answer]]\ncall = 'ls'", "answer 1: call must be written as tables [[answer.call]]"),
        ("[[answer]]\n[[answer.call]]\nargs = {}", "answer 1: call 1: name is missing: the tool to call"),
        (
            f"{CALL}arguments = {{}}",
            "answer 1: call 1: unknown key 'arguments'; did you mean 'args'?",
        ),
        (f"{CALL}args = 3", "answer 1: call 1: args must be a table"),
        (
            f"{CALL}args = {{ a = {{ b = [2020-01-01] }} }}",
            "answer 1: call 1: args: a.b is 2020-01-01, which JSON cannot represent: write it as a string",
        ),
        (
            f"{CALL}args = {{ a = inf }}",
            "answer 1: call 1: args: a is inf, which JSON cannot represent: write it as a string",
        ),
        (
            f"{CALL}expect = []",
            "answer 1: call 1: expect must be a non-empty string or a list of them",
        ),
        (
            f"{CALL}expect = ['a', 3]",
            "answer 1: call 1: expect must be a non-empty string or a list of them",
        ),
        (
            f"{CALL}expect_error = 3",
            "answer 1: call 1: expect_error must be a non-empty string or a list of them",
        ),
        (
            f"{CALL}expect = 'a'\nexpect_error = true",
            "answer 1: call 1: expect and expect_error cannot be combined",
        ),
    ],
)
def test_what_is_wrong_is_said_by_file_answer_and_key(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(text)
    assert str(caught.value) == f"s.toml: {problem}"


def test_what_is_not_toml_is_said_with_its_line() -> None:
    with pytest.raises(UsageError, match=r"^s\.toml: invalid TOML: .*line 2"):
        read("[[answer]]\nsay = \n")


def test_deep_nesting_is_no_crash() -> None:
    with pytest.raises(UsageError, match="nested too deeply"):
        read("answer = " + "[" * 100_000)


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet="[]{}answer.cl='\" \n=30-:,\\$", max_size=80))
def test_any_text_is_a_script_or_a_usage_error(text: str) -> None:
    try:
        script = read(text)
    except UsageError as error:
        assert str(error).startswith("s.toml: ")  # noqa: PT017 -- most texts are no scripts
    else:
        assert script.answers
