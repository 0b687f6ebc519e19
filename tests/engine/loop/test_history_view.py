"""The history as it is sent: legal, within the room where that is possible, and stable from request to request."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.message_strategies import legal_conversations
from tejat.core.messages.history import Message, history_problem, model_message, user_message
from tejat.core.messages.tokens import estimate_message_tokens
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData, Text
from tejat.engine.loop.history_view import HistoryView
from tejat.engine.prompt.expanded_prompt import CONTENT_END, CONTENT_START

PREAMBLE = [user_message("\n".join(f"file_{number}.py" for number in range(300))), model_message("Got it.")]


def step(number: int, lines: int = 100, **arguments: object) -> list[Message]:
    """A call and its long result."""
    call = FunctionCall("read_file", {"path": "/a.py", **arguments}, f"c{number}")
    output = "\n".join(f"{number}: line {line}" for line in range(lines))
    return [model_message(call), user_message(FunctionResponse("read_file", {"output": output}, f"c{number}"))]


def steps(count: int) -> list[Message]:
    return [message for number in range(count) for message in step(number)]


def outputs(messages: Sequence[Message]) -> list[str]:
    return [str(part.response["output"]) for message in messages for part in message.responses]


def test_what_fits_is_sent_as_it_is() -> None:
    messages = [*PREAMBLE, user_message("go"), *steps(3)]
    fitted = HistoryView().fit(messages, room=100_000, preamble_length=2)
    assert fitted.messages is messages
    assert not fitted.is_shortened
    assert fitted.tokens == estimate_message_tokens(messages)


def test_old_results_go_first_and_the_latest_is_whole() -> None:
    messages = [*PREAMBLE, user_message("go"), *steps(6)]
    fitted = HistoryView().fit(messages, room=2000, preamble_length=2)
    assert fitted.tokens <= 2000
    assert fitted.dropped == 0
    first, *_, last = outputs(fitted.messages)
    assert first == "[Left out to save room. Call read_file again if you need it.]"
    assert last == outputs(messages)[-1]
    assert fitted.messages[0].text.endswith("lines are shown.]")


def test_a_long_latest_result_is_cut_at_a_line_and_says_how_to_go_on() -> None:
    messages = [user_message("go"), *step(1, 2000, offset=50)]
    (output,) = outputs(HistoryView().fit(messages, room=1000).messages)
    *lines, note = output.splitlines()
    assert lines == outputs(messages)[0].splitlines()[: len(lines)]
    assert note == (
        f"[Cut here to fit the context window: {len(lines)} of 2000 lines are shown. "
        f"Call read_file with offset {50 + len(lines)} for the rest, and with a limit.]"
    )


def test_one_long_line_is_cut_by_its_characters() -> None:
    result = FunctionResponse("run_shell_command", {"output": "x" * 100_000}, "c")
    messages = [user_message("go"), model_message(FunctionCall("run_shell_command", {}, "c")), user_message(result)]
    (output,) = outputs(HistoryView().fit(messages, room=1000).messages)
    assert output.endswith("of 100000 characters are shown.]")
    assert len(output) < 4000


def test_whole_messages_go_last_and_the_request_stays() -> None:
    messages = [*PREAMBLE, user_message("Rename it."), *steps(60)]
    fitted = HistoryView().fit(messages, room=1000, preamble_length=2)
    assert fitted.tokens <= 1000
    assert fitted.dropped > 10
    assert fitted.messages[1] is PREAMBLE[1]
    assert fitted.messages[2].text == (
        "[Earlier messages were left out to save room.]\nThe request of the user was:\nRename it."
    )


def test_the_beginning_stays_the_same_for_several_requests() -> None:
    view = HistoryView()
    messages = [*PREAMBLE, user_message("go"), *steps(40)]
    beginnings: list[tuple[int, int]] = []
    for number in range(40, 60):
        messages += step(number)
        fitted = view.fit(messages, room=1500, preamble_length=2)
        assert fitted.tokens <= 1500
        beginnings.append((fitted.dropped, id(fitted.messages[3])))
    assert len({dropped for dropped, _ in beginnings}) < 8


def test_attachments_are_cut_and_the_words_of_the_user_are_not() -> None:
    words = "Explain this. " * 20
    prompt = user_message(words, CONTENT_START, "\nContent from @a.py:\n", "x = 1\n" * 5000, CONTENT_END)
    (message,) = HistoryView().fit([prompt], room=800).messages
    assert message.parts[0] == Text(words)
    assert "[Cut here to fit the context window: " in message.text
    later = [prompt, model_message("Yes."), user_message("And now?")]
    first, *_ = HistoryView().fit(later, room=800).messages
    assert first.parts[3] == Text("[Left out to save room. Read the file if you need it.]")


def test_media_and_long_arguments_of_the_past() -> None:
    call = FunctionCall("write_file", {"file_path": "/a", "content": "y" * 9000}, "c")
    result = FunctionResponse("write_file", {"output": "Done."}, "c")
    messages = [
        user_message("Look.", InlineData("image/png", bytes(400_000))),
        model_message(call),
        user_message(result),
        model_message("Done."),
        user_message("And?"),
    ]
    fitted = HistoryView().fit(messages, room=400)
    assert fitted.messages[0].parts[1] == Text("[image/png, left out to save room.]")
    (shorter,) = fitted.messages[1].calls
    assert len(str(shorter.args["content"])) < 400
    assert messages[1].calls == (call,)


@pytest.mark.parametrize("room", [-100, 0, 10])
def test_a_prompt_that_cannot_fit_stays_whole(room: int) -> None:
    messages = [user_message("word " * 500)]
    fitted = HistoryView().fit(messages, room=room)
    assert fitted.messages is messages
    assert fitted.tokens > room


@settings(max_examples=60, deadline=None)
@given(legal_conversations(), st.integers(0, 300), st.integers(0, 3))
def test_any_history_stays_legal(messages: list[Message], room: int, preamble_length: int) -> None:
    view = HistoryView()
    preamble_length = min(preamble_length, len(messages))
    if preamble_length and messages[preamble_length - 1].calls:
        preamble_length -= 1
    for length in range(1, len(messages) + 1):
        if history_problem(messages[:length]) is not None:
            continue
        fitted = view.fit(messages[:length], room=room, preamble_length=min(preamble_length, length))
        assert history_problem(fitted.messages) is None
        assert fitted.tokens == estimate_message_tokens(fitted.messages)
        assert fitted.tokens <= estimate_message_tokens(messages[:length]) or fitted.is_shortened
