"""What a hook says: by how it ends, in words or in JSON, and what is no answer at all."""

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.hooks import make_hook
from tejat.core.agent.hooks import HookAnswer, HookReply
from tejat.core.frozen import replace
from tejat.engine.hooks.result import (
    MAX_CONTEXT_LENGTH,
    MAX_REASON_LENGTH,
    HookResult,
    ToolMode,
    ToolSelection,
    parse_answer,
    parse_result,
)
from tejat.policy.types import Decision
from tejat.workspace.processes.program import ProgramEndReason, ProgramResult
from tejat.workspace.processes.spawn import ExitStatus

GUARD = make_hook("guard")
OTHER = make_hook("guard", "PreToolUse")


def ended(
    stdout: object = "", *, stderr: str = "", code: int | None = 0, cause: ProgramEndReason = ProgramEndReason.EXITED
) -> ProgramResult:
    text = stdout if isinstance(stdout, str) else json.dumps(stdout)
    return ProgramResult(text.encode(), stderr.encode(), ExitStatus(code, None if code is not None else 9), cause)


def result_of(stdout: object, **fields: Any) -> HookResult:
    return parse_result(GUARD, ended(stdout, **fields))


class TestEnd:
    @pytest.mark.parametrize("stdout", ["", "\n", "{}", {"decision": None, "hookSpecificOutput": None}])
    def test_nothing_said_is_no_objection(self, stdout: object) -> None:
        outcome = result_of(stdout)
        assert (outcome.decision, outcome.stops, outcome.failure, outcome.message) == (None, False, "", "")

    def test_exit_code_2_blocks_with_what_stands_on_stderr(self) -> None:
        assert result_of({"decision": "allow"}, code=2, stderr="Not here.\n") == HookResult(
            GUARD, Decision.DENY, "Not here."
        )
        assert result_of("", code=2) == HookResult(GUARD, Decision.DENY, "no reason given")

    @pytest.mark.parametrize(
        ("finished", "failure"),
        [
            (ended({"decision": "allow"}, code=1), "exited with code 1"),
            (ended(code=127, stderr="sh: nope: not found\nmore"), "exited with code 127 (sh: nope: not found)"),
            (ended(code=None), "was killed by signal 9"),
            (ended({"decision": "allow"}, cause=ProgramEndReason.TIME), "took longer than 60 seconds and was stopped"),
            (ended("{}", cause=ProgramEndReason.OUTPUT), "printed more than 1 MiB and was stopped"),
            (ProgramResult(b"", b"", None, ProgramEndReason.EXITED), "could not be killed"),
        ],
    )
    def test_any_other_end_is_a_failure(self, finished: ProgramResult, failure: str) -> None:
        assert parse_result(GUARD, finished) == HookResult(GUARD, failure=failure)


class TestSpellings:
    """A denial counts however it is encoded."""

    DENY = '{"decision": "deny", "reason": "No."}'

    @pytest.mark.parametrize(
        "printed",
        [
            DENY,
            json.dumps(DENY),
            json.dumps(json.dumps(DENY)),
            json.dumps(f"  {DENY}\n"),
            f"\ufeff{DENY}",
        ],
    )
    def test_json_that_is_encoded_twice_or_has_a_mark(self, printed: str) -> None:
        assert result_of(printed) == HookResult(GUARD, Decision.DENY, "No.")

    def test_an_answer_on_stderr(self) -> None:
        assert result_of("", stderr=self.DENY) == HookResult(GUARD, Decision.DENY, "No.")
        assert result_of("", stderr=json.dumps(self.DENY)) == HookResult(GUARD, Decision.DENY, "No.")
        assert result_of("", stderr="checked 3 files") == HookResult(GUARD)
        assert result_of("fine", stderr=self.DENY) == HookResult(GUARD, message="fine")

    def test_a_list_is_no_answer(self) -> None:
        assert result_of(f"[{self.DENY}]").failure == "printed JSON where it is not an object"

    def test_a_quoted_text_is_text(self) -> None:
        assert result_of('"All is well."') == HookResult(GUARD, message="All is well.")
        assert result_of('"unfinished') == HookResult(GUARD, message='"unfinished')
        assert result_of(json.dumps("{broken")).failure.startswith("printed invalid JSON")


class TestWords:
    def test_they_are_for_the_user(self) -> None:
        assert result_of("All is well.\n") == HookResult(GUARD, message="All is well.")
        assert result_of('[info] "fine"') == HookResult(GUARD, message='[info] "fine"')

    def test_before_a_prompt_the_other_agent_gives_them_to_the_model(self) -> None:
        prompt = make_hook("x", "UserPromptSubmit")
        assert parse_result(prompt, ended("Mind this.")) == HookResult(prompt, context="Mind this.")
        own = make_hook("x", "BeforeAgent")
        assert parse_result(own, ended("Mind this.")) == HookResult(own, message="Mind this.")

    def test_words_before_the_json_are_no_yes(self) -> None:
        failure = "printed other text before its JSON"
        assert result_of('checking...\n {"decision": "deny"}') == HookResult(GUARD, failure=failure)

    def test_bytes_that_are_no_text(self) -> None:
        assert (
            parse_result(GUARD, ProgramResult(b"\xff\xfe", b"", ExitStatus(0, None), ProgramEndReason.EXITED)).message
            == "\ufffd\ufffd"
        )


class TestJson:
    def test_everything_that_can_be_said(self) -> None:
        assert result_of(
            {
                "continue": True,
                "decision": "ask",
                "reason": "Sure?",
                "systemMessage": "Looked at it.",
                "hookSpecificOutput": {"additionalContext": "It is late.", "tool_input": {"path": "b"}},
                "unheardOf": 1,
            }
        ) == HookResult(GUARD, Decision.ASK, "Sure?", False, "Looked at it.", "It is late.", {"path": "b"})

    @pytest.mark.parametrize(
        ("word", "decision"),
        [
            ("allow", Decision.ALLOW),
            ("approve", Decision.ALLOW),
            ("ask", Decision.ASK),
            ("deny", Decision.DENY),
            ("block", Decision.DENY),
        ],
    )
    def test_decisions(self, word: str, decision: Decision) -> None:
        assert result_of({"decision": word, "reason": "why"}).decision is decision

    def test_the_form_of_the_other_agent(self) -> None:
        inner = {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "No.",
            "updatedInput": {"command": "ls"},
        }
        outcome = parse_result(OTHER, ended({"hookSpecificOutput": inner, "decision": "approve", "reason": "old"}))
        assert outcome == HookResult(OTHER, Decision.DENY, "No.", new_input={"command": "ls"}, replaces_input=True)

    def test_of_two_decisions_the_stricter_one_counts(self) -> None:
        outcome = result_of({"decision": "block", "hookSpecificOutput": {"permissionDecision": "allow"}})
        assert outcome.decision is Decision.DENY

    def test_the_run_is_stopped(self) -> None:
        outcome = result_of({"continue": False, "stopReason": "Enough.", "reason": "other"})
        assert (outcome.stops, outcome.reason) == (True, "Enough.")
        assert result_of({"continue": False}).reason == "no reason given"

    def test_a_message_stands_in_for_a_reason_and_can_be_kept_quiet(self) -> None:
        outcome = result_of({"decision": "ask", "systemMessage": "Look!", "suppressOutput": True})
        assert (outcome.reason, outcome.message) == ("Look!", "")

    def test_what_cannot_be_had_is_named(self) -> None:
        inner = {"llm_request": {"model": "x"}, "tailToolCallRequest": {}, "clearContext": None}
        assert result_of({"hookSpecificOutput": inner}).ignored == ("llm_request", "tailToolCallRequest")

    def test_long_texts_are_cut(self) -> None:
        outcome = result_of({"reason": "r" * 9999, "hookSpecificOutput": {"additionalContext": "c" * 99_999}})
        assert outcome.reason == "r" * MAX_REASON_LENGTH + "... [cut]"
        assert outcome.context == "c" * MAX_CONTEXT_LENGTH + "... [cut]"

    @pytest.mark.parametrize(
        ("printed", "failure"),
        [
            ('{"decision": "deny"', "printed invalid JSON: "),
            ('{"decision": "deny"} {"decision": "allow"}', "printed invalid JSON: Extra data"),
            ("{" * 5000, "printed invalid JSON: "),
            ('{"a":' * 200_000, "printed invalid JSON: nested too deeply"),
            ('{"decision": "maybe"}', "printed JSON where the decision 'maybe' is unknown"),
            ('{"decision": true}', "printed JSON where decision is not a string"),
            ('{"continue": "false"}', "printed JSON where continue is not true or false"),
            ('{"continue": 0}', "printed JSON where continue is not true or false"),
            ('{"hookSpecificOutput": "deny"}', "printed JSON where hookSpecificOutput is not an object"),
            ('{"hookSpecificOutput": {"tool_input": []}}', "printed JSON where tool_input is not an object"),
            (
                '{"hookSpecificOutput": {"permissionDecision": "defer"}}',
                "printed JSON where the decision 'defer'",
            ),
        ],
    )
    def test_what_cannot_be_understood_is_a_failure(self, printed: str, failure: str) -> None:
        outcome = result_of(printed)
        assert outcome.failure.startswith(failure)
        assert outcome == HookResult(GUARD, failure=outcome.failure)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["allow", "deny", "ask", "x"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["permissionDecision", "tool_input", "updatedInput", "a"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from(["continue", "decision", "reason", "systemMessage", "suppressOutput", "hookSpecificOutput"]),
        values,
    )
)
def test_whatever_is_said_a_no_is_never_lost(printed: dict[str, object]) -> None:
    outcome = result_of(printed)
    inner = printed.get("hookSpecificOutput")
    words = {json.dumps(printed.get("decision"))}
    if isinstance(inner, dict):
        words.add(json.dumps(cast("dict[str, object]", inner).get("permissionDecision")))
    if '"deny"' in words or '"ask"' in words or '"x"' in words:
        assert outcome.failure or outcome.decision in (Decision.ASK, Decision.DENY)
    if printed.get("continue", True) not in (True, None):
        assert outcome.failure or outcome.stops


@given(st.binary(max_size=60))
def test_whatever_is_printed_is_read(printed: bytes) -> None:
    parse_result(GUARD, ProgramResult(printed, b"", ExitStatus(0, None), ProgramEndReason.EXITED))


SELECTION = make_hook("", "BeforeToolSelection")


class TestAnswersOfFunctions:
    @pytest.mark.parametrize(
        ("answer", "fields"),
        [
            (HookReply("allow"), {"decision": Decision.ALLOW}),
            (HookReply("ask", "why"), {"decision": Decision.ASK, "reason": "why"}),
            (HookReply("deny", "why"), {"decision": Decision.DENY, "reason": "why"}),
            (HookReply(reason="why", stops=True), {"reason": "why", "stops": True}),
            (HookReply(message="for you", context="for it"), {"message": "for you", "context": "for it"}),
            (HookReply(tool_input={"a": 1}), {"new_input": {"a": 1}}),
            (HookReply(tool_input={}, replaces_input=True), {"new_input": {}, "replaces_input": True}),
            (HookReply(tools=["a"]), {"ignored": ("tools",)}),
            ({"decision": "block", "reason": "why"}, {"decision": Decision.DENY, "reason": "why"}),
            ({"hookSpecificOutput": {"additionalContext": "for it"}}, {"context": "for it"}),
        ],
    )
    def test_are_results(self, answer: HookAnswer, fields: dict[str, Any]) -> None:
        assert parse_answer(GUARD, answer) == replace(HookResult(GUARD, reason="no reason given"), **fields)

    def test_none_is_no_objection(self) -> None:
        assert parse_answer(GUARD, None) == HookResult(GUARD)

    def test_tools_for_the_next_request(self) -> None:
        assert parse_answer(SELECTION, HookReply(tools=["a"])).selection == ToolSelection(ToolMode.AUTO, ("a",))
        assert parse_answer(SELECTION, HookReply(tools=())).selection == ToolSelection(ToolMode.NONE)

    def test_long_texts_are_truncated(self) -> None:
        result = parse_answer(GUARD, HookReply(reason="x" * 10**5, message="x" * 10**5, context="x" * 10**5))
        assert max(len(result.reason), len(result.message)) < MAX_REASON_LENGTH + 20
        assert len(result.context) < MAX_CONTEXT_LENGTH + 20

    @pytest.mark.parametrize(
        ("answer", "kind", "message"),
        [
            ("no", TypeError, r"The hook 'guard' \(BeforeTool\) returned an object of the type str\."),
            (False, TypeError, "must return None, a HookReply or a dict"),
            ({"decision": "perhaps"}, ValueError, "returned a dict where the decision 'perhaps' is unknown"),
            ({"decision": 5}, ValueError, "returned a dict where decision is not a string"),
            (
                {"decison": "deny"},
                ValueError,
                "the field 'decison' is unknown .known fields: decision, reason",
            ),
            ({"permissionDecision": "deny"}, ValueError, "the field 'permissionDecision' is unknown"),
            ({"hookSpecificOutput": {"decision": "deny"}}, ValueError, "the field 'decision' is unknown"),
        ],
    )
    def test_others_are_refused(self, answer: object, kind: type[Exception], message: str) -> None:
        with pytest.raises(kind, match=message):
            parse_answer(GUARD, answer)
