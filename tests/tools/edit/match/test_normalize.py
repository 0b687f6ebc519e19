"""The keys of lines."""

from hypothesis import given
from hypothesis import strategies as st

from tejat.tools.edit.match.normalize import line_key, normalize_text

_SIGNS = " \t\x0b\x1c\x85\xa0\u1680\u2028\u3000\ufeffab`'\"-“”«—é\u0301\u0300ﬁ｀½ﾞｶ각\u1100\u1161\u11a8\udc80\n\r"


@given(st.text(st.sampled_from(_SIGNS), max_size=30), st.integers(0, 400))
def test_all_lines_at_once_are_the_same_as_one_by_one(text: str, plain_lines: int) -> None:
    text = f"{text}\n" + "a line of `ASCII`\t \n" * plain_lines + text
    assert normalize_text(text) == "\n".join(map(line_key, text.split("\n")))


def test_what_looks_alike_has_the_same_key() -> None:
    lines = ["say('it')—twice", "say( `it` ) - twice", "\tsay(‘it’)\u2028–twice ", "ｓａｙ（｀it´）-twice"]
    assert {line_key(line) for line in lines} == {"say('it')-twice"}
