"""A conversation told to somebody who was not there."""

from tejat.core.messages.history import model_message, user_message
from tejat.core.messages.types import FileData, FunctionCall, FunctionResponse, InlineData, Opaque, Thought
from tejat.engine.loop.transcript import render_transcript, truncate_middle


def test_a_conversation() -> None:
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    messages = [
        user_message("Look at this.\n", InlineData("image/png", b"123")),
        model_message(
            Thought("secret thought", "signature"),
            "I look.",
            FunctionCall("read_file", {"path": "é.txt"}, "1"),
            FunctionCall("other", {"deep": deep}, "2"),
            Opaque("gemini", {"x": 1}),
        ),
        user_message(
            FunctionResponse("read_file", {"output": "content"}, "1"),
            FunctionResponse("other", {"error": "no"}, "2"),
            FunctionResponse("third", {"output": "cut", "error": "timeout"}, "3"),
            FunctionResponse("fourth", {"count": 3}, "4"),
            FileData("application/pdf", "https://example.invalid/a"),
        ),
        model_message(Thought("nothing but a thought")),
        model_message("Done."),
    ]
    assert render_transcript(messages) == (
        "[user]\nLook at this.\n[image/png, 3 bytes]\n\n"
        '[model]\nI look.\ncalled read_file {"path": "é.txt"}\ncalled other [cannot be written down]\n\n'
        "[user]\nresult of read_file: content\nresult of other: error: no\n"
        'result of third: {"output": "cut", "error": "timeout"}\nresult of fourth: {"count": 3}\n'
        "[application/pdf, https://example.invalid/a]\n\n"
        "[model]\nDone."
    )


def test_long_pieces_are_cut() -> None:
    messages = [
        model_message("t" * 100_000, FunctionCall("write", {"content": "a" * 100_000})),
        user_message(FunctionResponse("write", {"output": "r" * 100_000})),
    ]
    told = render_transcript(messages)
    assert (told.count("t" * 1000), told.count("r" * 1000)) == (19, 3)
    assert len(told) < 27_000


def test_shortened() -> None:
    assert truncate_middle("0123456789", 10) == "0123456789"
    assert truncate_middle("0123456789ABC", 10) == "0123456\n[... 3 characters left out ...]\nABC"
    assert truncate_middle("", 0) == ""
    assert truncate_middle("abc", 0) == "\n[... 3 characters left out ...]\n"
