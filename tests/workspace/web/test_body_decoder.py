"""Bodies unpacked piece by piece, never beyond the limit."""

import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.workspace.web.body_decoder import BodyDecoder, UndecodableBody, create_decoder

PLENTY = 1 << 20


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


PACKINGS = {"gzip": gzip.compress, "X-GZIP ": gzip.compress, "deflate": zlib.compress, "identity": bytes, "": bytes}


def unpacked(decoder: BodyDecoder, packed: bytes, size: int = 7, most: int = PLENTY) -> bytes:
    pieces: list[bytes] = []
    for start in range(0, len(packed), size):
        pieces.append(decoder.decode(packed[start : start + size], most - sum(map(len, pieces))))
    return b"".join(pieces)


@given(st.sampled_from(sorted(PACKINGS)), st.binary(max_size=3000), st.integers(1, 500))
def test_any_body_in_any_pieces(encoding: str, body: bytes, size: int) -> None:
    decoder = create_decoder(encoding)
    assert unpacked(decoder, PACKINGS[encoding](body), size) == body
    assert decoder.is_complete


@given(st.sampled_from(sorted(PACKINGS)), st.binary(max_size=3000), st.integers(1, 500), st.integers(1, 3000))
def test_never_beyond_the_limit(encoding: str, body: bytes, size: int, most: int) -> None:
    assert unpacked(create_decoder(encoding), PACKINGS[encoding](body), size, most) == body[:most]


@given(st.binary(max_size=3000), st.integers(1, 500))
def test_deflate_without_the_header_that_it_ought_to_have(body: bytes, size: int) -> None:
    packed = raw_deflate(body)
    try:
        zlib.decompressobj().decompress(packed)
    except zlib.error:
        assert unpacked(create_decoder("deflate"), packed, max(size, 2)) == body


def test_several_streams_in_a_row_and_what_follows_them() -> None:
    decoder = create_decoder("gzip")
    assert unpacked(decoder, gzip.compress(b"one ") + gzip.compress(b"two") + b"\0\0\0 padding") == b"one two"
    assert decoder.is_complete
    assert unpacked(create_decoder("deflate"), zlib.compress(b"one") + b"rest") == b"one"


def test_a_body_that_ends_too_early() -> None:
    decoder = create_decoder("gzip")
    unpacked(decoder, gzip.compress(b"x" * 100)[:-9])
    assert not decoder.is_complete


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_broken_body(encoding: str) -> None:
    with pytest.raises(UndecodableBody, match="decompression failed"):
        unpacked(create_decoder(encoding), b"\xff" * 100)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress", "x" * 1000])
def test_what_nobody_asked_for(encoding: str) -> None:
    with pytest.raises(UndecodableBody) as caught:
        create_decoder(encoding)
    assert str(caught.value) == f'The server used the content encoding "{encoding[:60]}", which was not requested.'


def test_a_bomb_takes_no_room() -> None:
    packer = zlib.compressobj(6, wbits=31)
    bomb = b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(50)), packer.flush()])
    assert len(bomb) < 1 << 18
    tracemalloc.start()
    try:
        assert len(create_decoder("gzip").decode(bomb, 100_000)) == 100_000
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
