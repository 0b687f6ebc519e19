"""Topics: answers that are chosen by the prompt, and what is said if a call does not go as planned."""

from pathlib import Path

import pytest

from models.scripted.test_model import answer_of, ask, failure_of, scripted
from tejat.core.messages.history import Message, model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse, Text
from tejat.core.model import ModelClient

TOPICS = """
[[topic]]
when = ["fix", "BUG"]

[[topic.answer]]
say = "Fixing."
otherwise = "Then not."

[[topic.answer.call]]
name = "replace"
args = { file_path = "${root}/a" }
expect_error = false

[[topic.answer]]
say = "Fixed."

[[topic]]
purpose = "compression"

[[topic.answer]]
say = "In short."

[[topic]]

[[topic.answer]]
say = "I can fix bugs."
"""


@pytest.fixture
def model(tmp_path: Path) -> ModelClient:
    return scripted(tmp_path, TOPICS)


def replaced(**response: str) -> FunctionResponse:
    return FunctionResponse("replace", dict(response))


def asked(model: ModelClient, prompt: str) -> list[Message]:
    """The conversation up to the first answer to this prompt."""
    return [user_message(prompt), answer_of(ask(model, user_message(prompt))).message]


class TestTopics:
    @pytest.mark.parametrize("prompt", ["Fix it", "there is a bug"])
    def test_the_prompt_chooses_the_topic(self, prompt: str, model: ModelClient) -> None:
        told = asked(model, prompt)
        assert told[-1].parts == (Text("Fixing."), FunctionCall("replace", {"file_path": "/project/a"}))
        assert answer_of(ask(model, *told, user_message(replaced(output="ok")))).text == "Fixed."

    def test_a_topic_can_be_used_again(self, model: ModelClient) -> None:
        for _ in range(3):
            told = asked(model, "fix")
            assert answer_of(ask(model, *told, user_message(replaced(output="ok")))).text == "Fixed."
            assert answer_of(ask(model, user_message("hello"))).text == "I can fix bugs."

    def test_a_new_prompt_leaves_an_unfinished_topic(self, model: ModelClient) -> None:
        told = asked(model, "fix")
        cancelled = user_message(replaced(error="cancelled"), Text("hello"))
        assert answer_of(ask(model, *told, cancelled)).text == "I can fix bugs."

    def test_notes_before_the_prompt_do_not_count(self, model: ModelClient) -> None:
        noted = user_message(Text("The user took the fix back."), Text("hello"))
        assert answer_of(ask(model, noted)).text == "I can fix bugs."

    def test_other_purposes_have_their_own_topics(self, model: ModelClient) -> None:
        assert answer_of(ask(model, user_message("fix"), purpose="compression")).text == "In short."

    def test_no_topic_fits(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, "[[topic]]\nwhen = 'a'\n[[topic.answer]]\n")
        assert failure_of(model, user_message("b")).message == (
            f'{tmp_path}/script.toml: no topic with purpose = "conversation" matches the prompt "b"'
        )


class TestOtherwise:
    def test_is_said_in_a_topic(self, model: ModelClient) -> None:
        told = asked(model, "fix")
        refused = user_message(replaced(error="The user said no."))
        assert answer_of(ask(model, *told, refused)).text == "Then not."
        assert answer_of(ask(model, user_message("hello"))).text == "I can fix bugs."

    def test_is_said_in_a_sequence_of_answers(self, tmp_path: Path) -> None:
        call = "[[answer.call]]\nname = 'glob'\nexpect = 'a.py'\n"
        model = scripted(tmp_path, f"[[answer]]\notherwise = 'Then not.'\n{call}[[answer]]\nsay = 'Next.'")
        told = asked(model, "go")
        missing = user_message(FunctionResponse("glob", {"output": "none"}))
        assert answer_of(ask(model, *told, missing)).text == "Then not."
        after = [*told, missing, model_message("Then not."), user_message("and now?")]
        assert answer_of(ask(model, *after)).text == "Next."


class TestAgents:
    """Sub-agents have answers of their own."""

    SCRIPT = """
[[answer]]
say = "main"
[[answer]]
purpose = "agent:reader"
say = "first"
[[answer.call]]
name = "replace"
expect_error = false
[[answer]]
purpose = "agent:reader#2"
say = "second alone"
[[answer]]
purpose = "agent:reader"
say = "next"
"""

    def test_runs_in_order_and_one_of_them_alone(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, self.SCRIPT)
        prompt = user_message("go")
        first = answer_of(ask(model, prompt, lane="agent:reader#1")).message
        assert answer_of(ask(model, prompt, lane="agent:reader#2")).text == "second alone"
        assert answer_of(ask(model, prompt)).text == "main"
        told = (prompt, first, user_message(replaced(output="ok")))
        assert answer_of(ask(model, *told, lane="agent:reader#1")).text == "next"
        failure = failure_of(model, prompt, lane="agent:reader#2")
        assert 'has no more answers with purpose = "agent:reader"' in failure.message

    def test_other_purposes_are_shared(self, tmp_path: Path) -> None:
        model = scripted(tmp_path, '[[answer]]\npurpose = "compression"\nsay = "short"\n')
        assert answer_of(ask(model, user_message("go"), purpose="compression", lane="agent:a#1")).text == "short"

    def test_topics(self, tmp_path: Path) -> None:
        agent = '\n[[topic]]\npurpose = "agent:a"\n[[topic.answer]]\nsay = "of the agent"\n'
        model = scripted(tmp_path, TOPICS + agent)
        told = asked(model, "Fix it")
        assert answer_of(ask(model, user_message("Fix it"), lane="agent:a#7")).text == "of the agent"
        assert answer_of(ask(model, *told, user_message(replaced(output="ok")))).text == "Fixed."
