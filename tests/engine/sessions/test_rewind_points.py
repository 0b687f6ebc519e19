"""Places in a conversation that can be gone back to."""

from tejat.core.messages.history import Message, model_message, user_message
from tejat.engine.sessions.rewind_points import RewindPoints


def make_messages(count: int) -> list[Message]:
    return [(user_message if index % 2 == 0 else model_message)(str(index)) for index in range(count)]


def with_prompts(messages: list[Message], *lengths: int) -> RewindPoints:
    marks = RewindPoints()
    for number, length in enumerate(lengths):
        marks.add(f"prompt {number}", float(number), messages[:length])
    return marks


def test_each_remembers_where_it_stood() -> None:
    messages = make_messages(6)
    marks = with_prompts(messages, 0, 2, 4)
    assert [(mark.display_text, mark.created_at, mark.length, mark.last_message) for mark in marks] == [
        ("prompt 0", 0.0, 0, None),
        ("prompt 1", 1.0, 2, messages[1]),
        ("prompt 2", 2.0, 4, messages[3]),
    ]


def test_going_back_to_a_prompt() -> None:
    messages = make_messages(6)
    marks = with_prompts(messages, 0, 2, 4)
    assert marks.rewind(1, 2, messages) == messages[:2]
    assert [mark.display_text for mark in marks] == ["prompt 0"]
    assert marks.rewind(0, 0, messages[:2]) == []
    assert len(marks) == 0


def test_the_message_is_the_one_from_then() -> None:
    """What was joined with the prompt is not lost with it."""
    before = [*make_messages(2), user_message("known already")]
    marks = with_prompts(before, 3)
    joined = user_message(*before[2].parts, "the prompt")
    assert marks.rewind(0, 3, [*before[:2], joined, model_message("yes")]) == before


def test_a_number_that_means_another_place_does_not_count() -> None:
    messages = make_messages(6)
    for number in (0, 7, -1, None):
        marks = with_prompts(messages, 0, 2, 4)
        assert marks.rewind(number, 3, messages) == messages[:3]
        assert [mark.display_text for mark in marks] == ["prompt 0", "prompt 1"]


def test_a_prompt_that_was_taken_back() -> None:
    messages = make_messages(4)
    marks = with_prompts(messages, 2, 4)
    marks.withdraw_last([*messages, user_message("still there")])
    assert len(marks) == 2
    marks.withdraw_last(messages)
    assert [mark.display_text for mark in marks] == ["prompt 0"]
    marks.clear()
    marks.withdraw_last([])
    assert len(marks) == 0
