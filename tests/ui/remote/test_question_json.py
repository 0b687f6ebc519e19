"""Tests of questions for programs, and of the words that answer them."""

import pytest

from tejat.core.agent.questions import PendingQuestion
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, InfoConfirmation, Outcome
from tejat.core.errors import UsageError
from tejat.ui.remote.question_json import question_to_json, reply_for_word

QUESTION = PendingQuestion("q1", ApprovalRequest(InfoConfirmation("Fetch \x1b[31mit", "look"), "web_fetch"), 12.0)


def test_the_words_of_a_question_answer_it() -> None:
    shown = question_to_json(QUESTION)
    assert (shown["id"], shown["asked_at"]) == ("q1", 12.0)
    assert "\x1b" not in str(shown["title"])
    options = shown["options"]
    assert isinstance(options, list)
    words = [str(each["word"]) for each in options if isinstance(each, dict)]
    assert {"yes", "no", "tell"} <= set(words)
    assert reply_for_word(QUESTION, "yes", "").outcome is Outcome.PROCEED_ONCE
    assert reply_for_word(QUESTION, "no", "").outcome is Outcome.CANCEL
    assert reply_for_word(QUESTION, "tell", "why?") == ApprovalReply(Outcome.CANCEL, feedback="why?")


@pytest.mark.parametrize(("word", "message"), [("perhaps", ""), ("tell", " "), ("yes", "text"), ("", ""), ("YES", "")])
def test_other_words_are_refused(word: str, message: str) -> None:
    with pytest.raises(UsageError):
        reply_for_word(QUESTION, word, message)
