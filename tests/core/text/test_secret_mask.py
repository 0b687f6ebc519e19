"""Secrets are replaced in text, longer ones first."""

import pytest

from tejat.core.i18n import LazyString, lazy, translate
from tejat.core.text.secret_mask import MASK, TextMask, anonymous_mask, mask_keys, mask_tokens


def test_longer_secrets_come_first() -> None:
    mask = TextMask({"abc": "<1>", "abcdef": "<2>"})
    assert mask.secrets == ("abcdef", "abc")
    assert mask.mask_text("abcdef abc abcd") == "<2> <1> <1>d"


def test_short_secrets_stay() -> None:
    assert anonymous_mask(["short", "long-enough"], min_length=8).mask_text("short long-enough") == f"short {MASK}"


def test_a_lazy_string_stays_lazy() -> None:
    masked = anonymous_mask(["a-secret"], min_length=8).mask_text(lazy("key {key}", key="a-secret"))
    assert isinstance(masked, LazyString)
    assert masked == translate(masked) == f"key {MASK}"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("AIzaSyNotARealKey-1234567890 x", "*** x"),
        ("Authorization: Bearer abcdefgh", "Authorization: Bearer ***"),
        ("https://x/y?key=abc&z=1", "https://x/y?key=***&z=1"),
        ("risk-free", "risk-free"),
    ],
)
def test_what_looks_like_a_key(text: str, masked: str) -> None:
    assert mask_keys(text) == masked


def test_tokens_are_masked_where_they_stand() -> None:
    token = "ghp_" + "a1B2" * 9
    assert mask_tokens(f"one {token}, two {token}") == f"one {MASK}, two {MASK}"
    plain = "nothing here"
    assert mask_tokens(plain) is plain
    assert MASK in mask_keys(token)
