import gc

from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.messages.history import Message, user_message
from tejat.models.wire.encoding_cache import EncodingCache, JoinedMessages, encode_within_limit


def test_each_message_is_encoded_once_for_as_long_as_it_lives() -> None:
    seen: list[str] = []

    def encode(message: Message) -> bytes:
        seen.append(message.text)
        return message.text.encode()

    encoded = EncodingCache(encode)
    first, same_words = user_message("a"), user_message("a")
    assert [encoded.get(first), encoded.get(first), encoded.get(same_words)] == [b"a", b"a", b"a"]
    assert seen == ["a", "a"]
    encoded.put(first, b"other")
    assert encoded.get(first) == b"other"
    assert len(encoded._cache) == 2
    del first
    gc.collect()
    assert len(encoded._cache) == 1


def text_of(message: Message) -> bytes:
    return message.text.encode()


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["grow", "grow", "grow", "cut", "side", "swap", "other bytes"]),
            st.sampled_from([0, 1, 50_000, 131_071, 131_072, 200_000]),
        ),
        max_size=8,
    )
)
def test_joined_messages_are_what_they_are_one_by_one(steps: list[tuple[str, int]]) -> None:
    encoded = EncodingCache(text_of)
    joined = JoinedMessages(encoded)
    messages: list[Message] = []
    for number, (what, size) in enumerate(steps):
        message = user_message(str(number) * size)
        match what:
            case "cut":
                del messages[-1:]
            case "side":
                assert b"".join(joined.blocks([message])) == text_of(message)
            case "swap" if messages:
                messages[len(messages) // 2] = message
            case "other bytes" if messages:
                encoded.put(messages[0], b"other")
                joined.clear()
            case _:
                messages.append(message)
        assert b"".join(joined.blocks(messages)) == b",".join(map(encoded.get, messages))


def test_blocks_are_few_and_seldom_made_anew() -> None:
    joined = JoinedMessages(EncodingCache(text_of))
    messages: list[Message] = []
    made: dict[int, bytes] = {}
    blocks: list[bytes] = []
    for number in range(300):
        messages.append(user_message(chr(97 + number % 26) * 4000))
        blocks = joined.blocks(messages)
        made.update((id(block), block) for block in blocks if len(block) >= 131_072)
    assert [len(block) // 131_072 for block in blocks] == [4, 4, 1, 0]
    # Nine times there was enough for a block, and each of them was merged three times at most.
    assert len(made) <= 9
    assert sum(map(len, made.values())) < 3 * len(b"".join(blocks))
    joined.blocks([user_message("on the side")])
    assert [id(block) for block in joined.blocks(messages)][:-1] == [id(block) for block in blocks][:-1]


def test_the_oldest_make_room() -> None:
    messages = [user_message(letter) for letter in "abcd"]
    full = EncodingCache(lambda message: message.text.encode() * 100)
    lean = EncodingCache(lambda message: message.text.encode() * 10)

    def sizes(most: int) -> list[int]:
        return [len(piece) for piece in encode_within_limit(messages, full, lean, max_bytes=most)]

    assert sizes(400) == [100, 100, 100, 100]
    assert sizes(399) == [10, 100, 100, 100]
    assert sizes(150) == [10, 10, 10, 100]
    assert sizes(0) == [10, 10, 10, 10]
    assert encode_within_limit(list[Message](), full, lean, max_bytes=1) == []
