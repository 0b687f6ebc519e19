"""The scripted model: what it says, what it checks, and what it says when the conversation is another one."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.scripted_model import answer_of, ask, failure_of, scripted
from tejat.core.errors import UsageError
from tejat.core.messages.history import Message, model_message, user_message
from tejat.core.messages.tokens import estimate_request_tokens
from tejat.core.messages.types import FunctionCall, FunctionResponse, Text, Thought
from tejat.core.model import (
    Chunk,
    FailureKind,
    FinishReason,
    ModelClient,
    ModelFailure,
    ModelRequest,
    TextDelta,
    ThoughtDelta,
    Usage,
)
from tejat.models.scripted.model import ScriptClient, open_scripted_model
from tejat.models.scripted.script_file import Script, ScriptedAnswer

LIST_THEN_DONE = """
[[answer]]
think = "Where am I?"
say = "I look  around\\nfirst. "
usage = { prompt = 10, output = 3 }
[[answer.call]]
name = "list_directory"
args = { path = "${root}", depth = 2 }
expect = "calc.py"
[[answer]]
say = "Done."
"""


def called(model: ModelClient, prompt: str = "go") -> list[Message]:
    """The conversation up to the first calls of the script."""
    asked = user_message(prompt)
    return [asked, answer_of(ask(model, asked)).message]


class TestAnswers:
    def test_streams_thoughts_words_and_the_whole(self, tmp_path: Path) -> None:
        chunks = ask(scripted(tmp_path, LIST_THEN_DONE), user_message("go"))
        assert chunks[:-1] == [
            ThoughtDelta("Where am I?"),
            TextDelta("I "),
            TextDelta("look  "),
            TextDelta("around\n"),
            TextDelta("first. "),
        ]
        answer = answer_of(chunks)
        assert answer.message.parts == (
            Thought("Where am I?"),
            Text("I look  around\nfirst. "),
            FunctionCall("list_directory", {"path": "/project", "depth": 2}),
        )
        assert (answer.reason, answer.usage) == (FinishReason.STOP, Usage(prompt=10, output=3))
        assert (answer.model, answer.detail, answer.grounding) == ("scripted", "", None)

    @settings(max_examples=100, deadline=None)
    @given(say=st.text(max_size=60))
    def test_the_words_together_are_the_text(self, say: str) -> None:
        chunks = ask(ScriptClient(Script((ScriptedAnswer(1, say=say),)), "s.toml"), user_message("go"))
        deltas = chunks[:-1]
        assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == say
        assert answer_of(chunks).text == say

    def test_an_empty_answer_is_one(self, tmp_path: Path) -> None:
        assert answer_of(ask(scripted(tmp_path, "[[answer]]\n"), user_message("go"))).is_empty

    def test_ends_as_the_script_says(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, '[[answer]]\nsay = "x"\nfinish = "max_tokens"\ndetail = "too long"\n')
        answer = answer_of(ask(model, user_message("go")))
        assert (answer.reason, answer.detail) == (FinishReason.MAX_TOKENS, "too long")

    @pytest.mark.parametrize(
        ("interpreter", "word"),
        [("/usr/bin/python3", "/usr/bin/python3"), ("/my place/python", "'/my place/python'"), ("", "python3")],
    )
    def test_puts_in_the_interpreter(
        self, interpreter: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "executable", interpreter)
        model = scripted(tmp_path, '[[answer]]\nsay = "${python} ${HOME} ${root}"\n', root="/r")
        assert answer_of(ask(model, user_message("go"))).text == f"{word} ${{HOME}} /r"

    def test_says_what_it_is(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, 'context_window = 1234\n[[answer]]\nsay = "x"\n')
        assert model.name == f"scripted:{tmp_path}/script.toml"
        assert (model.context_window, model.capabilities) == (1234, frozenset())
        asyncio.run(model.close())

    def test_pauses_before_each_word_and_can_be_stopped(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, '[[answer]]\nsay = "a b c"\npause = 30\n')

        async def stop_early() -> None:
            async with asyncio.timeout(0.05):
                async for _ in model.stream(ModelRequest([user_message("go")])):
                    raise AssertionError

        with pytest.raises(TimeoutError):
            asyncio.run(stop_early())

    def test_guesses_how_many_tokens_there_are(self, tmp_path: Path) -> None:
        request = ModelRequest([user_message("x" * 300)], system="y" * 300)
        model = scripted(tmp_path, '[[answer]]\nsay = "x"\n')
        assert asyncio.run(model.count_tokens(request)) == estimate_request_tokens(request) == 150


class TestExpectations:
    def test_goes_on_when_the_response_is_the_expected_one(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, LIST_THEN_DONE)
        told = called(model)
        response = FunctionResponse("list_directory", {"output": "calc.py\n"}, "tejat-1")
        assert answer_of(ask(model, *told, user_message(response))).text == "Done."

    def test_looks_at_what_comes_along_with_the_response(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, LIST_THEN_DONE)
        told = called(model)
        response = FunctionResponse("list_directory", {"output": "Tool execution succeeded."})
        assert answer_of(ask(model, *told, user_message(response, Text("calc.py")))).text == "Done."

    def test_says_what_was_expected_and_what_came(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, LIST_THEN_DONE)
        told = called(model)
        failure = failure_of(model, *told, user_message(FunctionResponse("list_directory", {"output": "empty\n"})))
        assert failure.message == (
            f"{tmp_path}/script.toml: answer 1, call 1: list_directory should have answered "
            '"calc.py", but answered "empty\\n"'
        )
        assert (failure.kind, failure.can_retry) == (FailureKind.SCRIPT, False)

    def test_an_error_does_not_meet_an_expectation(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, LIST_THEN_DONE)
        told = called(model)
        failure = failure_of(model, *told, user_message(FunctionResponse("list_directory", {"error": "no calc.py"})))
        assert failure.message.endswith('list_directory should have succeeded, but failed: "no calc.py"')

    @pytest.mark.parametrize(
        ("wanted", "response", "problem"),
        [
            ("true", {"error": "no"}, None),
            ("true", {"output": "yes"}, 'should have failed, but succeeded: "yes"'),
            ('"not found"', {"error": "File not found"}, None),
            ('"not found"', {"error": "denied"}, 'should have answered "not found", but answered "denied"'),
            ('["not", "found"]', {"error": "found, not lost"}, None),
            ("false", {"output": "yes"}, None),
            ("false", {"error": "no", "output": ["a"]}, 'should have succeeded, but failed: "no\\n[\\"a\\"]"'),
        ],
    )
    def test_expects_errors(self, wanted: str, response: dict[str, Any], problem: str | None, tmp_path: Path) -> None:
        text = f'[[answer]]\n[[answer.call]]\nname = "t"\nexpect_error = {wanted}\n[[answer]]\nsay = "on"\n'
        model = scripted(tmp_path, text)
        told = [*called(model), user_message(FunctionResponse("t", response))]
        if problem is None:
            assert answer_of(ask(model, *told)).text == "on"
        else:
            assert failure_of(model, *told).message.endswith(f"answer 1, call 1: t {problem}")

    def test_a_call_without_expectation_may_come_to_anything(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, '[[answer]]\n[[answer.call]]\nname = "t"\n[[answer]]\nsay = "on"\n')
        told = called(model)
        assert answer_of(ask(model, *told, user_message(FunctionResponse("t", {"error": "x"})))).text == "on"

    def test_misses_a_response(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, LIST_THEN_DONE)
        failure = failure_of(model, *called(model), user_message("never mind"))
        assert failure.message.endswith("answer 1 made 1 calls, but got 0 results")

    def test_wonders_about_the_response_of_another_tool(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, LIST_THEN_DONE)
        failure = failure_of(model, *called(model), user_message(FunctionResponse("glob", {"output": "calc.py"})))
        assert failure.message.endswith("list_directory was called, but the result is for glob")

    @pytest.mark.parametrize("finish", ["malformed_call", "blocked"])
    def test_calls_that_nobody_runs_have_no_responses(self, finish: str, tmp_path: Path) -> None:
        text = f'[[answer]]\nfinish = "{finish}"\n[[answer.call]]\nname = "t"\n[[answer]]\nsay = "again"\n'
        model = scripted(tmp_path, text)
        called(model)
        assert answer_of(ask(model, user_message("go"))).text == "again"

    def test_checks_every_call_in_its_place(self, tmp_path: Path) -> None:
        text = """
        [[answer]]
        [[answer.call]]
        name = "a"
        expect = "1"
        [[answer.call]]
        name = "b"
        expect = ["2", "3"]
        [[answer]]
        """
        model = scripted(tmp_path, text)
        responses = FunctionResponse("a", {"output": "1"}), FunctionResponse("b", {"output": "2"})
        failure = failure_of(model, *called(model), user_message(*responses))
        assert failure.message.endswith('answer 1, call 2: b should have answered "3", but answered "2"')

    def test_long_texts_are_cut_in_the_account(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, LIST_THEN_DONE)
        told = called(model)
        failure = failure_of(model, *told, user_message(FunctionResponse("list_directory", {"output": "x" * 10**6})))
        assert len(failure.message) < 1000

    def test_the_conversation_can_go_on_after_a_surprise(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, LIST_THEN_DONE)
        told = [*called(model), user_message(FunctionResponse("list_directory", {"output": "empty"}))]
        failure_of(model, *told)
        assert answer_of(ask(model, *told)).text == "Done."


class TestPrompts:
    TWO = '[[answer]]\nwhen = "bug"\nsay = "1"\n[[answer.call]]\nname = "t"\n[[answer]]\nwhen = "bug"\nsay = "2"\n'

    def test_the_prompt_counts_while_its_calls_run(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, self.TWO)
        told = [user_message("Context"), model_message("ok"), user_message("Fix the bug")]
        told.append(answer_of(ask(model, *told)).message)
        told.append(user_message(FunctionResponse("t", {"output": "x"}), Text("a file that came along")))
        assert answer_of(ask(model, *told)).text == "2"

    def test_an_earlier_prompt_does_not_count(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, self.TWO)
        told = [user_message("Fix the bug"), model_message("ok"), user_message("Thanks")]
        assert failure_of(model, *told).message == (
            f'{tmp_path}/script.toml: answer 1 expects a prompt that contains "bug", but the prompt was "Thanks"'
        )

    def test_an_answer_that_did_not_fit_is_still_there(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, self.TWO)
        failure_of(model, user_message("Thanks"))
        assert answer_of(ask(model, user_message("a bug"))).text == "1"


class TestTheEnd:
    def test_of_the_script(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, '[[answer]]\nsay = "only this"\n')
        ask(model, user_message("one"))
        failure = failure_of(model, user_message("two"))
        assert failure.message == (
            f"{tmp_path}/script.toml: the script has no more answers, but the model was called again"
        )
        assert (failure.kind, failure.can_retry) == (FailureKind.SCRIPT, False)

    def test_every_purpose_has_its_own_answers(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, '[[answer]]\nsay = "1"\n[[answer]]\npurpose = "web_fetch"\nsay = "2"\n')
        assert answer_of(ask(model, user_message("page"), purpose="web_fetch")).text == "2"
        assert answer_of(ask(model, user_message("go"))).text == "1"
        failure = failure_of(model, user_message("page"), purpose="web_fetch")
        assert 'no more answers with purpose = "web_fetch"' in failure.message


class TestWantedFailures:
    def test_fails_as_told_after_what_was_said(self, tmp_path: Path) -> None:
        text = '[[answer]]\nsay = "Half a"\nfail = "rate_limited"\nretry_after = 0.1\n[[answer]]\nsay = "better"\n'
        model = scripted(tmp_path, text)
        came: list[Chunk] = []

        async def read() -> None:
            async for chunk in model.stream(ModelRequest([user_message("go")])):
                came.append(chunk)  # noqa: PERF401 -- what came before the failure is kept

        with pytest.raises(ModelFailure) as caught:
            asyncio.run(read())
        assert came == [TextDelta("Half "), TextDelta("a")]
        failure = caught.value
        assert (failure.kind, failure.retry_after, failure.can_retry) == (FailureKind.RATE_LIMITED, 0.1, True)
        assert failure.message == "The script makes answer 1 fail (rate_limited)."
        assert answer_of(ask(model, user_message("go"))).text == "better"

    def test_some_failures_are_final(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, '[[answer]]\nfail = "authentication"\ndetail = "The key is wrong."\n')
        failure = failure_of(model, user_message("go"))
        assert (failure.message, failure.can_retry) == ("The key is wrong.", False)


class TestFiles:
    def test_there_must_be_one(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"none\.toml: could not read the script: No such file"):
            open_scripted_model(str(tmp_path / "none.toml"), root="/")

    def test_a_name_that_no_file_can_have(self) -> None:
        with pytest.raises(UsageError, match="could not read the script: embedded null"):
            open_scripted_model("a\0b", root="/")

    def test_not_utf8(self, tmp_path: Path) -> None:
        (tmp_path / "s.toml").write_bytes(b"[[answer]]\nsay = '\xff'\n")
        with pytest.raises(UsageError, match="not UTF-8: invalid byte 19"):
            open_scripted_model(str(tmp_path / "s.toml"), root="/")

    def test_too_long(self, tmp_path: Path) -> None:
        with (tmp_path / "s.toml").open("wb") as file:
            file.truncate(16 * 2**20 + 1)
        with pytest.raises(UsageError, match="larger than 16 MiB"):
            open_scripted_model(str(tmp_path / "s.toml"), root="/")

    def test_a_byte_order_mark_is_no_harm(self, tmp_path: Path) -> None:
        (tmp_path / "s.toml").write_bytes(b"\xef\xbb\xbf[[answer]]\nsay = 'x'\n")
        model = open_scripted_model(str(tmp_path / "s.toml"), root="/")
        assert answer_of(ask(model, user_message("go"))).text == "x"

    def test_problems_name_the_file(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"script\.toml: answer 1: say must be a string"):
            scripted(tmp_path, "[[answer]]\nsay = 3\n")
