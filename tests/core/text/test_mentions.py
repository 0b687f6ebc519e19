"""A name that is written into a prompt is read from it again."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.text.mentions import (
    MENTION_PATTERN,
    PartialMention,
    find_partial_mention,
    format_mention,
    unescape_mention,
)

NAMES = st.text(st.sampled_from("ab ./\\\"',;!?()[]{}，。@日-_"), min_size=1, max_size=12)


@given(NAMES.filter(lambda name: not name.endswith("/")), st.booleans())
def test_every_name_is_read_as_it_was_written(name: str, is_quoted: bool) -> None:
    found = re.fullmatch(MENTION_PATTERN, format_mention(name, is_quoted=is_quoted))
    assert found is not None
    assert unescape_mention(found["quoted"] or found["plain"]) == name


@given(NAMES, st.booleans())
def test_every_name_can_go_on(name: str, is_quoted: bool) -> None:
    written = format_mention(name, is_quoted=is_quoted)
    open_end = written[:-1] if is_quoted and not name.endswith("/") else written
    assert find_partial_mention(f"see {open_end}") == PartialMention(4, name, is_quoted)


@pytest.mark.parametrize("text", ["", "a@b", "@a b", '@"a" ', '@"a"', "@a,", "\\@a", "a\\"])
def test_nothing_goes_on(text: str) -> None:
    assert find_partial_mention(text) is None


def test_a_very_long_text_is_looked_at_from_its_end() -> None:
    text = "@x " * 1_000_000 + "@file"
    assert find_partial_mention(text) == PartialMention(3_000_000, "file", is_quoted=False)
