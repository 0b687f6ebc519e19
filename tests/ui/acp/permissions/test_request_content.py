"""What is shown before an approval: all of it, nothing hidden, nothing that passes for our words."""

from typing import Any, cast

import pytest

from support.acp_updates import Json, texts
from tejat.core.approval.confirmation import (
    ApprovalRequest,
    ChoiceSubject,
    EditConfirmation,
    ExecConfirmation,
    InfoConfirmation,
    McpConfirmation,
    ModelChangeConfirmation,
    PlanConfirmation,
    Risk,
    Scope,
    ToolOrigin,
    TrialConfirmation,
)
from tejat.core.provenance import ToolSource
from tejat.ui.acp.permissions.dialogs import DialogSubject
from tejat.ui.acp.permissions.options import offered_choices
from tejat.ui.acp.permissions.request_content import MAX_ACTION_CHARS, request_subject

CUT = "**Part of this is not shown. Approve it only if you know all of it.**"


def subject(confirmation: ChoiceSubject, **more: Any) -> DialogSubject:
    request = ApprovalRequest(confirmation, "tool", directory="/w", **more)
    return request_subject(request, confirmation, offered_choices(request, has_forms=False))


def shown(confirmation: ChoiceSubject, **more: Any) -> list[str]:
    return texts(cast("list[Json]", subject(confirmation, **more).content))


def test_a_command_is_shown_exactly_with_its_facts_first() -> None:
    command = ExecConfirmation("T", "rm -r x\necho \u202e`a`", "/w/sub", ("rm", "echo"), "Clean *up*", ("It may.",))
    content = shown(
        command, risks=(Risk.DELETES,), reason="A rule asks.", place=2, total=3, agent="a#1", agent_task="t"
    )
    assert content == [
        (
            "**Run a command in sub** (2 of 3)\n\n"
            "Asked by the agent a\\#1: t\n\n"
            "**Risk: deletes or overwrites files**\n\n"
            "Reason: A rule asks.\n\n"
            "It may.\n\n"
            "The model says: Clean \\*up\\*\n\n"
            "Programs: rm, echo\n\n"
            "Run this command?"
        ),
        "```sh\nrm -r x\necho <U+202E>`a`\n```",
    ]


def test_an_edit_is_a_diff() -> None:
    edit = EditConfirmation("T", "a.py", "/w/a.py", "@@ -1 +1 @@\n-a\n+b\n", "a\n", "b\n")
    made = subject(edit)
    assert made.content[1:] == ({"type": "diff", "path": "/w/a.py", "oldText": "a\n", "newText": "b\n"},)
    assert shown(edit) == ["**Edit a.py +1 -1**\n\nFile: /w/a.py\n\nApply this change?"]
    assert (made.title, made.kind, made.locations) == ("Edit a.py +1 -1", "edit", ({"path": "/w/a.py"},))


def test_a_new_file_has_no_old_text() -> None:
    edit = EditConfirmation("T", "a.py", "/w/a.py", "@@ -0,0 +1 @@\n+b\n", None, "b\n")
    assert subject(edit).content[1:] == ({"type": "diff", "path": "/w/a.py", "oldText": None, "newText": "b\n"},)


def test_an_edit_of_a_large_file_is_the_text_of_its_diff() -> None:
    edit = EditConfirmation("T", "a.py", "/w/a.py", "@@ -1 +1 @@\n-a\n+b\n", None, None)
    assert shown(edit)[1:] == ["```diff\n@@ -1 +1 @@\n-a\n+b\n```"]


def test_an_edit_that_changes_nothing_says_so() -> None:
    edit = EditConfirmation("T", "a.py", "/w/a.py", "", "a\n", "a\n")
    assert shown(edit)[1:] == ["The file already has this content."]


@pytest.mark.parametrize(
    "confirmation",
    [
        ExecConfirmation("T", "echo " + "x" * MAX_ACTION_CHARS, "/w"),
        EditConfirmation("T", "a", "/w/a", "@@ -1 +1 @@\n-a\n+" + "b" * MAX_ACTION_CHARS, None, None),
        TrialConfirmation("T", "make", "/w", (), "+" + "b" * MAX_ACTION_CHARS, "", 0),
        PlanConfirmation("T", "/p/plan.md", "x" * (MAX_ACTION_CHARS + 1)),
        McpConfirmation("T", "s", "t", "t", {"a": "x" * MAX_ACTION_CHARS}),
    ],
)
def test_what_is_too_long_says_so_first(confirmation: ChoiceSubject) -> None:
    content = shown(confirmation)
    assert CUT in content[0]
    assert any("not shown]" in text for text in content[1:])
    assert sum(map(len, content)) < MAX_ACTION_CHARS + 2000


def test_what_fits_does_not() -> None:
    assert CUT not in shown(ExecConfirmation("T", "x" * MAX_ACTION_CHARS, "/w"))[0]
    big = EditConfirmation(
        "T", "a", "/w/a", "@@ -1 +1 @@\n-a\n+b" + "b" * MAX_ACTION_CHARS, "a", "b" * MAX_ACTION_CHARS
    )
    assert CUT not in shown(big)[0]


def test_a_call_of_a_server_shows_its_arguments_and_what_the_server_says() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    call = McpConfirmation("T", "srv", "do", "Do", {"a": "``` # no"}, "Does **it**.\n\nArguments:", schema)
    content = shown(call)
    assert content[0] == "**Call do on server srv**\n\nDisplay name: Do\n\nCall this tool?"
    assert content[1:5] == [
        "Arguments:",
        '````\n{\n  "a": "``` # no"\n}\n````',
        "Description from the server:",
        "```\nDoes **it**.\n\nArguments:\n```",
    ]


def test_pages_to_fetch() -> None:
    pages = InfoConfirmation("T", "Compare", ("https://a/", "https://b/"))
    assert shown(pages)[1:] == ["```\nCompare\n```", "URLs to fetch:", "```\nhttps://a/\nhttps://b/\n```"]
    assert subject(pages).kind == "fetch"


def test_a_trial_shows_command_output_changes_and_diff() -> None:
    trial = TrialConfirmation("T", "make", "/w", (), "-a\n+b\n", "built\n", 0, ("a.txt changed",))
    content = shown(trial)
    assert "**Cannot be kept: a.txt changed**" in content[0]
    assert content[1:] == ["```sh\nmake\n```", "Output:", "```\nbuilt\n```", "```diff\n-a\n+b\n```"]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("# Plan\n\n1. *Do* `it`.", "# Plan\n\n1. *Do* `it`."),
        ("# Plan\n<!-- rm -rf ~ -->", "```markdown\n# Plan\n<!-- rm -rf ~ -->\n```"),
        ("[ok](http://evil/)", "```markdown\n[ok](http://evil/)\n```"),
        ("a\n[x]: http://evil/", "```markdown\na\n[x]: http://evil/\n```"),
        ("&#108;s", "```markdown\n&#108;s\n```"),
    ],
)
def test_a_plan_is_rendered_only_if_that_hides_nothing(text: str, content: str) -> None:
    plan = PlanConfirmation("T", "/p/plan.md", text, note="It changed.")
    assert shown(plan) == [
        "**Plan: plan.md**\n\nFile: /p/plan.md\n\nIt changed.\n\nCarry out this plan?",
        content,
    ]
    assert subject(plan).kind == "switch_mode"


def test_another_model() -> None:
    change = ModelChangeConfirmation("T", "a", "b", "Busy.")
    assert shown(change) == ["**a is not available**\n\nSwitch to b for this session?", "```\nBusy.\n```"]


def test_confusable_letters_are_pointed_out() -> None:
    content = shown(ExecConfirmation("T", "\u0430pt install x", "/w"))
    assert "**Mixed alphabets: \u0430pt = \\<U+0430\\>pt**" in content[0]


def test_the_origin_of_the_tool_is_shown() -> None:
    origin = ToolOrigin(ToolSource.PYTHON, "tools.py")
    assert "Tool: tool, from the plug-in tools.py" in shown(InfoConfirmation("T", "x"), origin=origin)[0]


def test_long_rules_and_missing_ones_are_explained() -> None:
    rule = "allow " + "x" * 300
    command = ExecConfirmation("T", "ls", "/w")
    assert shown(command, always=rule, scopes=(Scope.SESSION,))[2:] == ["The whole rule:", f"```\n{rule}\n```"]
    assert shown(command, always_refusal="No rule can say this.")[2:] == ["No rule can say this."]


def test_a_question_of_an_agent_names_it_in_the_title() -> None:
    assert subject(ExecConfirmation("T", "ls", "/w"), agent="a#1").title == "a#1: Run a command"
