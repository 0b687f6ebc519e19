"""Conversations: prompts, answers and calls with their results."""

from typing import Any

import pytest

from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.engine.prompt.system_prompt import ACKNOWLEDGEMENT
from tejat.notebook.transcript import NotebookTranscript

MESSAGES = [
    user_message("Read <it>."),
    model_message("I will.", FunctionCall("read_file", {"path": "a.txt"}, id="1")),
    user_message(FunctionResponse("read_file", {"output": "content"}, id="1")),
    model_message("It is **short**."),
]


def test_a_conversation_as_html() -> None:
    shown = NotebookTranscript(MESSAGES, root="/p")._repr_html_()
    pieces = ["Read &lt;it&gt;.", "I will.", "a.txt", "It is <strong>short</strong>."]
    places = [shown.index(piece) for piece in pieces]
    assert places == sorted(places)
    assert shown.startswith('<div class="tejat-view"><style>')
    assert shown.count('class="block call ok"') == 1


def test_a_conversation_as_markdown() -> None:
    shown = NotebookTranscript(MESSAGES)._repr_markdown_()
    assert "Read &lt;it>." in shown
    assert "**Call of read_file**" in shown
    assert "It is **short**." in shown


def test_what_the_session_said_before_is_left_out() -> None:
    preamble = [user_message("This is where we are."), model_message(ACKNOWLEDGEMENT)]
    transcript = NotebookTranscript([*preamble, *MESSAGES])
    assert repr(transcript) == "NotebookTranscript(4 messages)"
    assert "This is where" not in transcript._repr_html_()
    assert "This is where" not in transcript._repr_markdown_()


def test_nothing() -> None:
    assert '<div class="transcript"></div>' in NotebookTranscript([])._repr_html_()


def test_what_are_no_messages() -> None:
    wrong: Any
    for wrong in ("text", 5, [user_message("a"), "b"]):
        with pytest.raises(TypeError, match=r"^NotebookTranscript needs messages, such as `agent\.history`, not "):
            NotebookTranscript(wrong)
