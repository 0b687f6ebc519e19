"""Questions with the real widgets: buttons, fields for texts, problems."""

import ipywidgets

from tejat.core.approval.confirmation import (
    ApprovalReply,
    ApprovalRequest,
    AskUserConfirmation,
    EditConfirmation,
    ExecConfirmation,
    Outcome,
)
from tejat.core.approval.user_question import QuestionOption, QuestionType, UserQuestion
from tejat.notebook.question_panel import QuestionPanel

QUESTION = ApprovalRequest(ExecConfirmation("Run", "echo '<script>alert(1)</script>'", "/"), "run_shell_command")


def values(panel: QuestionPanel) -> str:
    return "".join(child.value for child in panel.widget.children if isinstance(child, ipywidgets.HTML))


def test_the_first_click_counts() -> None:
    panel = QuestionPanel(ipywidgets, QUESTION)
    assert not panel.is_answered
    panel.buttons["Allow once"].click()
    panel.buttons["No, continue"].click()
    assert panel.wait() == ApprovalReply(Outcome.PROCEED_ONCE)
    (answered,) = panel.widget.children
    assert "<summary>" in answered.value
    assert "<strong>Allow once</strong>" in answered.value


def test_who_shows_the_run_shows_the_answer() -> None:
    panel = QuestionPanel(ipywidgets, QUESTION, shows_answer=False)
    panel.buttons["No, continue"].click()
    assert panel.wait() == ApprovalReply(Outcome.CANCEL)
    assert panel.widget.children == ()


def test_the_question_is_escaped() -> None:
    shown = values(QuestionPanel(ipywidgets, QUESTION))
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown


def test_a_problem_is_shown_and_the_question_stays() -> None:
    panel = QuestionPanel(ipywidgets, QUESTION)
    panel.buttons["No, and say what to do instead"].click()
    assert "Enter a message." in values(panel)
    assert not panel.is_answered
    panel.texts["Message"].value = "Use <b>printf</b>."
    panel.buttons["No, and say what to do instead"].click()
    assert panel.wait() == ApprovalReply(Outcome.CANCEL, feedback="Use <b>printf</b>.")
    assert "&lt;b&gt;printf" in values(panel)


def test_options_are_offered_and_other_texts_too() -> None:
    options = (QuestionOption("SQLite"), QuestionOption("MySQL"))
    asked = AskUserConfirmation("t", (UserQuestion("Which?", "Database", QuestionType.CHOICE, options),))
    panel = QuestionPanel(ipywidgets, ApprovalRequest(asked, "ask_user"))
    field = panel.texts["Database"]
    assert field.options == ("SQLite", "MySQL")
    field.value = "DuckDB"
    panel.buttons["Send"].click()
    assert panel.wait().answers == {"0": "DuckDB"}


def test_hostile_labels_are_no_markup() -> None:
    asked = AskUserConfirmation("t", (UserQuestion("Which?", "<b>x</b>"),))
    panel = QuestionPanel(ipywidgets, ApprovalRequest(asked, "ask_user"))
    (field,) = panel.texts.values()
    assert not field.description_allow_html


def test_a_proposal_is_edited_in_a_text_area() -> None:
    edit = EditConfirmation("Edit", "a", "/a", "", "old\n", "new\n")
    panel = QuestionPanel(ipywidgets, ApprovalRequest(edit, "write_file", can_modify=True))
    area = panel.texts["Edit before approving"]
    assert isinstance(area, ipywidgets.Textarea)
    assert area.value == "new\n"
    panel.buttons["Use the edited text"].click()
    assert "No changes made." in values(panel)
    area.value = "newer\n"
    panel.buttons["Use the edited text"].click()
    assert panel.wait() == ApprovalReply(Outcome.MODIFY_WITH_EDITOR, new_content="newer\n")
    assert [type(child) for child in panel.widget.children] == [ipywidgets.HTML]
