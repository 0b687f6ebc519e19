"""Base64 in every spelling, and what is none."""

from base64 import b64encode, encodebytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.messages.base64_data import base64_size, decode_base64


@given(st.binary(max_size=200))
def test_every_spelling(data: bytes) -> None:
    plain = b64encode(data).decode()
    wrapped = encodebytes(data).decode()
    assert [decode_base64(text) for text in (plain, wrapped, f"data:image/png;base64,{plain}")] == [data] * 3
    assert base64_size(plain) == len(data)


@pytest.mark.parametrize("text", ["abc", "a*bc", "ab=c", "ü", "\ud800", None, 5, ["YQ=="], "a-_b"])
def test_what_is_none(text: str | None) -> None:
    assert decode_base64(text) is None


def test_the_size_of_what_is_no_text() -> None:
    assert base64_size(None) == 0
