"""Limits, headers, responses and failures as a caller sees them."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tejat.core.errors import TejatError
from tejat.workspace.http.types import Headers, HttpFailure, HttpFailureKind, HttpLimits, HttpResponse


async def pieces(*given: bytes) -> AsyncIterator[bytes]:
    for piece in given:
        yield piece


def response(*given: bytes) -> HttpResponse:
    return HttpResponse(status=200, reason="OK", headers=Headers(), body=pieces(*given), server="a.test:80")


def test_every_wait_has_a_limit_by_default() -> None:
    assert HttpLimits() == HttpLimits(connect=15.0, first_byte=300.0, idle=90.0, total=900.0, body=None, headers=65_536)


class TestHeaders:
    headers = Headers((("Content-Type", "a"), ("X-One", "1"), ("content-type", "b")))

    def test_a_name_is_found_however_it_is_written(self) -> None:
        assert self.headers.get("CONTENT-type") == "a"
        assert self.headers.get_all("content-TYPE") == ["a", "b"]

    def test_a_name_that_is_not_there(self) -> None:
        assert self.headers.get("x-two") is None
        assert self.headers.get_all("x-two") == []

    def test_all_in_their_order(self) -> None:
        assert list(self.headers.items()) == [("Content-Type", "a"), ("X-One", "1"), ("content-type", "b")]


class TestRead:
    def test_the_pieces_are_joined(self) -> None:
        assert asyncio.run(response(b"ab", b"", b"c").read(3)) == b"abc"

    def test_one_byte_too_many(self) -> None:
        with pytest.raises(HttpFailure) as caught:
            asyncio.run(response(b"ab", b"cd").read(3))
        assert caught.value.kind is HttpFailureKind.TOO_LARGE
        assert str(caught.value) == "a.test:80 sent more than 3 bytes."


def test_a_failure_is_ours() -> None:
    failure = HttpFailure("words", HttpFailureKind.DNS)
    assert isinstance(failure, TejatError)
    assert (str(failure), failure.message, failure.kind) == ("words", "words", HttpFailureKind.DNS)
