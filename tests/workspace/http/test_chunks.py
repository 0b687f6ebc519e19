import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.workspace.http.chunks import take_plain_chunks

END = b"0\r\n\r\n"


def framed(*contents: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(content), content) for content in contents)


def take(wire: bytes) -> tuple[bytes, bytes]:
    """The content, and what is left."""
    buffer = bytearray(wire)
    return take_plain_chunks(buffer), bytes(buffer)


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=8), st.integers(0, 400))
def test_complete_chunks_are_taken_and_the_rest_is_left(contents: list[bytes], cut: int) -> None:
    wire = framed(*contents) + END
    content, rest = take(wire[:cut])
    taken = next(count for count in range(len(contents) + 1) if b"".join(contents[:count]) == content)
    assert framed(*contents[:taken]) + rest == wire[:cut]
    assert taken == len(contents) or len(framed(*contents[: taken + 1])) > cut


@pytest.mark.parametrize(
    "header",
    [b"5;name=value\r\n", b"5\n", b"+5\r\n", b"0x5\r\n", b" 5\r\n", b"5 \r\n", b"5_0\r\n", b"\r\n", b"000000005\r\n"],
)
def test_other_headers_are_left(header: bytes) -> None:
    assert take(framed(b"abc") + header + b"hello\r\n") == (b"abc", header + b"hello\r\n")


@pytest.mark.parametrize("wire", [b"2\r\nhello\r\n", b"5\r\nhello\n\r", b"5\r\nhello\r\r", b"5\r\nhello\r", END])
def test_a_chunk_without_its_end_is_left(wire: bytes) -> None:
    assert take(framed(b"abc") + wire) == (b"abc", wire)


def test_many_chunks_are_taken_at_once() -> None:
    content, rest = take(framed(*[b"data"] * 100_000) + END)
    assert (len(content), rest) == (400_000, END)
