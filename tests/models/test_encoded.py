import gc

from tejat.core.history import Message, user_message
from tejat.models.encoded import Encoded


def test_each_message_is_encoded_once_for_as_long_as_it_lives() -> None:
    seen: list[str] = []

    def encode(message: Message) -> bytes:
        seen.append(message.text)
        return message.text.encode()

    encoded = Encoded(encode)
    first, same_words = user_message("a"), user_message("a")
    assert [encoded.of(first), encoded.of(first), encoded.of(same_words)] == [b"a", b"a", b"a"]
    assert seen == ["a", "a"]
    encoded.put(first, b"other")
    assert encoded.of(first) == b"other"
    assert len(encoded._known) == 2
    del first
    gc.collect()
    assert len(encoded._known) == 1
