import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.workspace.http.chunks import BadChunk, ChunkDecoder

END = b"0\r\n\r\n"


def framed(*contents: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(content), content) for content in contents)


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=8), st.data())
def test_any_cut_gives_the_same_content(contents: list[bytes], data: st.DataObject) -> None:
    wire = framed(*contents) + END
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=6)))
    decoder = ChunkDecoder()
    decoded, rest = b"", b""
    for begin, end in zip([0, *cuts], [*cuts, len(wire)], strict=True):
        if rest:
            rest += wire[begin:end]
            continue
        content, stopped = decoder.feed(wire[begin:end])
        decoded += content
        rest = stopped or b""
    assert (decoded, rest) == (b"".join(contents), END)


@pytest.mark.parametrize(
    "header",
    [b"5;name=value\r\n", b"5\n", b"+5\r\n", b"0x5\r\n", b" 5\r\n", b"5 \r\n", b"5_0\r\n", b"\r\n", b"000000005\r\n"],
)
def test_other_headers_are_left_to_a_complete_parser(header: bytes) -> None:
    content, rest = ChunkDecoder().feed(framed(b"abc") + header + b"hello\r\n")
    assert (content, rest) == (b"abc", header + b"hello\r\n")


def test_a_chunk_that_has_only_begun_is_passed_on() -> None:
    decoder = ChunkDecoder()
    assert decoder.feed(b"a\r\n01234") == (b"01234", None)
    assert decoder.feed(b"56789") == (b"56789", None)
    assert decoder.feed(b"\r") == (b"", None)
    assert decoder.feed(b"\n1\r\nx\r\n") == (b"x", None)


@pytest.mark.parametrize("wire", [b"2\r\nhello\r\n", b"5\r\nhello\n\r", b"5\r\nhello\r\r"])
def test_a_chunk_that_is_longer_than_its_size_is_refused(wire: bytes) -> None:
    with pytest.raises(BadChunk):
        ChunkDecoder().feed(wire)


def test_the_time_is_linear_in_the_number_of_chunks() -> None:
    decoder = ChunkDecoder()
    content, rest = decoder.feed(framed(*[b"data"] * 100_000) + END)
    assert (len(content), rest) == (400_000, END)
