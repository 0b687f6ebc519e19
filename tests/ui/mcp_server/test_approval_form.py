"""Approval forms of MCP clients, and the replies that count."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    ApprovalSubject,
    EditConfirmation,
    ElicitationConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    Outcome,
    Scope,
)
from tejat.core.errors import ToolFailure
from tejat.core.tools.display import DiffStat
from tejat.ui.mcp_server.approval_form import (
    ALLOW_FOR_SESSION,
    ALLOW_ONCE,
    DENY,
    ApprovalForm,
    build_approval_form,
    parse_approval_reply,
)

COMMAND = ExecConfirmation(
    "Run it?", "rm \u202ex\nrm y", "/home\u200b", ("rm",), "Clean\nup", ("It may use the network.",)
)


def edit(patch: str = "--- a\n+++ a\n-x\u202e\n+y\n") -> EditConfirmation:
    return EditConfirmation("Change a?", "a\nb", "/w/a\nb", patch, "x\n", "y\n", DiffStat(3, 2, 1, 1))


def message_of(confirmation: ApprovalSubject, **more: Any) -> list[str]:
    return build_approval_form(ApprovalRequest(confirmation, "tool", **more)).message.split("\n")


class TestMessage:
    def test_a_change(self) -> None:
        assert message_of(edit(), reason="A rule\nasks.", note="Again.", always="allow tool") == [
            "Change a?",
            "Again.",
            "Reason: A rule<U+000A>asks.",
            "File: /w/a<U+000A>b (+3 -2)",
            "| --- a",
            "| +++ a",
            "| -x<U+202E>",
            "| +y",
            '"allow for this session" adds the rule: allow tool',
        ]

    def test_a_change_that_is_too_long_says_so(self) -> None:
        lines = message_of(edit("+" + "x" * 100 + "\n" + "+y\n" * 20_000))
        assert lines[2] == "| +" + "x" * 100
        assert len("\n".join(lines)) < 33_000
        shown = sum(line == "| +y" for line in lines)
        assert shown > 6_000
        assert lines[-1] == f"{20_000 - shown} more lines are not shown. Approve only if you know them."

    def test_a_command(self) -> None:
        assert message_of(COMMAND) == [
            "Run it?",
            "Directory: /home<U+200B>",
            "$ rm <U+202E>x",
            "> rm y",
            "Programs: rm",
            "The model says: Clean<U+000A>up",
            "Note: It may use the network.",
        ]

    def test_a_tool_of_somebody_else(self) -> None:
        assert message_of(McpConfirmation("Call it?", "srv", "t", "T", {"a": "b\nc"})) == [
            "Call it?",
            "Server: srv",
            "Tool: t",
            "> {",
            '>   "a": "b\\nc"',
            "> }",
        ]

    def test_words(self) -> None:
        assert message_of(InfoConfirmation("Fetch?", "one\ntwo", ("https://a.example",))) == [
            "Fetch?",
            "> one",
            "> two",
            "URL: https://a.example",
        ]

    def test_nobody_can_allow_what_is_too_long_to_be_seen(self) -> None:
        with pytest.raises(ToolFailure, match="too long to show in full"):
            build_approval_form(
                ApprovalRequest(ExecConfirmation("Run?", "echo " + "x" * 70_000, "/"), "run_shell_command")
            )

    def test_the_question_of_another_server_is_not_passed_on(self) -> None:
        with pytest.raises(ToolFailure, match="cannot be forwarded"):
            build_approval_form(ApprovalRequest(ElicitationConfirmation("Who?", "srv", "Your key?"), "tool"))

    @given(text=st.text())
    def test_nothing_others_wrote_can_pass_for_ours(self, text: str) -> None:
        lines = message_of(ExecConfirmation("Run it?", f"x{text}", f"/{text}"))
        assert lines[0] == "Run it?"
        assert lines[1].startswith("Directory: /")
        assert lines[2].startswith("$ x")
        assert all(line.startswith("> ") for line in lines[3:])


class TestForm:
    def test_a_session_can_be_chosen_only_where_a_rule_would_be_remembered(self) -> None:
        def decision(form: ApprovalForm) -> Any:
            properties: Any = form.schema["properties"]
            return properties["decision"]["enum"]

        assert decision(build_approval_form(ApprovalRequest(COMMAND, "t", always="allow t"))) == [
            ALLOW_ONCE,
            ALLOW_FOR_SESSION,
            DENY,
        ]
        assert decision(build_approval_form(ApprovalRequest(COMMAND, "t"))) == [ALLOW_ONCE, DENY]

    def test_two_plain_fields(self) -> None:
        form = build_approval_form(ApprovalRequest(COMMAND, "t"))
        assert form.params(with_mode=False) == {
            "message": form.message,
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "decision": {"type": "string", "title": "Allow this call?", "enum": [ALLOW_ONCE, DENY]},
                    "reason": {
                        "type": "string",
                        "title": "Message to the agent",
                        "description": "Optional. Sent to the agent with a no.",
                        "maxLength": 1000,
                    },
                },
                "required": ["decision"],
            },
        }
        assert form.params(with_mode=True) == {"mode": "form", **form.params(with_mode=False)}


ALWAYS = build_approval_form(ApprovalRequest(COMMAND, "t", always="allow t"))
NEVER_ALWAYS = build_approval_form(ApprovalRequest(COMMAND, "t"))


class TestAnswer:
    @pytest.mark.parametrize(
        ("content", "form", "answer"),
        [
            ({"decision": ALLOW_ONCE}, ALWAYS, ApprovalReply(Outcome.PROCEED_ONCE)),
            ({"decision": ALLOW_ONCE, "reason": "fine"}, NEVER_ALWAYS, ApprovalReply(Outcome.PROCEED_ONCE)),
            ({"decision": ALLOW_FOR_SESSION}, ALWAYS, ApprovalReply(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION)),
            ({"decision": ALLOW_FOR_SESSION}, NEVER_ALWAYS, ApprovalReply(Outcome.CANCEL)),
            ({"decision": DENY}, ALWAYS, ApprovalReply(Outcome.CANCEL)),
            (
                {"decision": DENY, "reason": "Ask\x1b me."},
                ALWAYS,
                ApprovalReply(Outcome.CANCEL, feedback="Ask<U+001B> me."),
            ),
            ({"decision": DENY, "reason": "x" * 5000}, ALWAYS, ApprovalReply(Outcome.CANCEL, feedback="x" * 1000)),
            ({"decision": DENY, "reason": "  "}, ALWAYS, ApprovalReply(Outcome.CANCEL)),
            ({"decision": "Allow once"}, ALWAYS, ApprovalReply(Outcome.CANCEL)),
            ({"decision": True}, ALWAYS, ApprovalReply(Outcome.CANCEL)),
            ({"decision": [ALLOW_ONCE]}, ALWAYS, ApprovalReply(Outcome.CANCEL)),
            ({}, ALWAYS, ApprovalReply(Outcome.CANCEL)),
            (None, ALWAYS, ApprovalReply(Outcome.CANCEL)),
            (ALLOW_ONCE, ALWAYS, ApprovalReply(Outcome.CANCEL)),
        ],
    )
    def test_accepted(self, content: Any, form: ApprovalForm, answer: ApprovalReply) -> None:
        assert parse_approval_reply({"action": "accept", "content": content}, form) == answer

    @pytest.mark.parametrize("action", ["decline", "cancel", "ACCEPT", True, None])
    def test_everything_else_is_a_no(self, action: Any) -> None:
        assert parse_approval_reply({"action": action, "content": {"decision": ALLOW_ONCE}}, ALWAYS) == ApprovalReply(
            Outcome.CANCEL
        )

    @given(result=st.dictionaries(st.sampled_from(["action", "content", "decision"]), st.from_type(object)))
    def test_nonsense_is_a_no(self, result: Any) -> None:
        assert parse_approval_reply(result, ALWAYS).outcome is Outcome.CANCEL
