"""Questions and answers as values."""

import pytest

from tejat.core.approval.confirmation import ApprovalReply, EditConfirmation, InfoConfirmation, Outcome


def test_outcomes_have_the_values_of_the_documents() -> None:
    assert [outcome.value for outcome in Outcome] == [
        "proceed_once",
        "proceed_auto_edit",
        "proceed_always",
        "proceed_always_and_save",
        "proceed_always_server",
        "proceed_always_tool",
        "proceed_always_sandboxed",
        "proceed_with_tools",
        "modify_with_editor",
        "cancel",
        "stop",
        "stop_agent",
        "try_in_copy",
        "try_again",
        "run_for_real",
    ]


def edit(proposal: object = None) -> EditConfirmation:
    return EditConfirmation(
        title="Confirm Write: a.txt",
        file_name="a.txt",
        file_path="/w/a.txt",
        file_diff="+x",
        original_content=None,
        new_content="x",
        proposal=proposal,
    )


def test_each_kind_of_question_carries_its_type() -> None:
    assert edit().type == "edit"
    assert InfoConfirmation("Fetch", "Fetch a page?", ("https://example.org",)).type == "info"


def test_what_the_tool_keeps_for_itself_is_neither_compared_nor_printed() -> None:
    assert edit(proposal=b"a whole file") == edit(proposal=b"another one")
    assert "whole file" not in repr(edit(proposal=b"a whole file"))
    assert edit(proposal=b"a whole file").proposal == b"a whole file"


def test_questions_differ_by_what_is_shown() -> None:
    assert InfoConfirmation("Fetch", "one") != InfoConfirmation("Fetch", "two")


def test_an_answer_carries_nothing_but_its_outcome_by_default() -> None:
    assert ApprovalReply(Outcome.CANCEL) == ApprovalReply(Outcome.CANCEL, new_content=None, feedback=None)


@pytest.mark.parametrize(
    ("patch", "old", "new", "is_new"),
    [
        ("@@ -0,0 +1,1 @@\n+a\n", None, None, True),
        ("@@ -0,0 +1,1 @@\n+a\n", "", "a", False),
        ("@@ -1,1 +1,1 @@\n-b\n+a\n", None, None, False),
        ("[too large]", None, "a", True),
        ("[too large]", None, None, False),
        ("Index: a\n====\n--- a\n+++ a\n@@ -1,9 +0,0 @@\n-@@ -0,0 +1\n", None, None, False),
    ],
)
def test_whether_the_file_is_new(patch: str, old: str | None, new: str | None, is_new: bool) -> None:
    assert EditConfirmation("T", "a", "/w/a", patch, old, new).is_new_file == is_new
