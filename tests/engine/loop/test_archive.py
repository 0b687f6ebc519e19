"""Replaced messages keep their numbers."""

from tejat.core.messages.history import Message, model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData
from tejat.engine.loop.archive import ConversationArchive, common_tail

OPENING = [user_message("This is the folder."), model_message("Got it.")]


def turn(number: int) -> list[Message]:
    call = FunctionCall("note", {"text": str(number)}, f"call-{number}")
    return [
        user_message(f"prompt {number}"),
        model_message("I do.", call),
        user_message(FunctionResponse("note", {"output": "noted"}, f"call-{number}")),
        model_message(f"Done {number}."),
    ]


def shown(archive: ConversationArchive, history: list[Message]) -> list[tuple[int, int, str]]:
    return [(each.number, each.turn, each.message.text) for each in archive.numbered(history)]


def test_numbers_stay_the_same_over_two_summaries() -> None:
    archive = ConversationArchive(head_length=2)
    history = [*OPENING, *turn(1), *turn(2)]
    everything = shown(archive, history)
    assert everything[0] == (1, 1, "prompt 1")
    assert everything[-1] == (8, 2, "Done 2.")
    assert archive.is_empty
    for keep in (4, 2):
        compressed = [*OPENING, user_message("summary"), model_message("ack"), *history[-keep:]]
        assert archive.number_of(len(history) - keep - 1) == 8 - keep
        assert archive.replace(history, compressed) == keep
        history = compressed
        assert shown(archive, history) == everything
    assert not archive.is_empty
    history += turn(3)
    assert shown(archive, history)[-1] == (12, 3, "Done 3.")


def test_a_rewind_ends_the_numbers_earlier() -> None:
    archive = ConversationArchive(turn(1), head_length=2)
    history = [user_message("summary"), model_message("ack"), *turn(2)]
    assert shown(archive, history)[-1] == (8, 2, "Done 2.")
    archive.rewind(2)
    assert shown(archive, history[:2])[-1] == (4, 1, "Done 1.")
    archive.rewind(1)
    assert shown(archive, history[:1])[-1] == (4, 1, "Done 1.")


def test_media_are_kept_by_name_and_the_oldest_are_forgotten() -> None:
    picture = InlineData("image/png", b"x" * 1000)
    archive = ConversationArchive([user_message("look", picture)], limit=100)
    (numbered,) = archive.numbered([])
    assert numbered.message.text == f"look{picture.label}"
    archive = ConversationArchive([*turn(1), *turn(2)], limit=30)
    assert archive.forgotten == 6
    assert shown(archive, []) == [(7, 2, ""), (8, 2, "Done 2.")]
    assert not archive.is_empty


def test_the_same_messages_at_the_end() -> None:
    some = turn(1)
    assert common_tail(some, some) == 4
    assert common_tail(some, [user_message("other"), *turn(1)[1:]]) == 3
    assert common_tail(some, [*some, user_message("more")]) == 0
    assert common_tail([], some) == 0
