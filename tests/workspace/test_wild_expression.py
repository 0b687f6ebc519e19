"""An expression with atomic groups matches just what a naive matcher matches."""

import re
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.workspace.wild_expression import Token, Wild, wild_expression


def may_stand(pattern: list[Token]) -> bool:
    """Whether `DIRECTORIES` stands only where it may."""
    return all(
        before[-1:] in ([], ["/"], [Wild.DIRECTORIES]) or not any(isinstance(token, Wild) for token in before)
        for index, token in enumerate(pattern)
        if token is Wild.DIRECTORIES and (before := pattern[:index]) is not None
    )


tokens = st.lists(st.sampled_from(["a", "b", "/", "/", "[^/]", *Wild]), max_size=8).filter(may_stand)


def naively(pattern: list[Token], text: str) -> bool:
    if not pattern:
        return not text
    first, *rest = pattern
    if first is Wild.NAME_PART:
        return naively(rest, text) or (text[:1] not in ("", "/") and naively(pattern, text[1:]))
    if first is Wild.ANYTHING:
        return naively(rest, text) or (text != "" and naively(pattern, text[1:]))
    if first is Wild.DIRECTORIES:
        return naively(rest, text) or naively([Wild.ANYTHING, "/", *rest], text)
    return text != "" and (text[0] == first or (first == "[^/]" and text[0] != "/")) and naively(rest, text[1:])


@settings(max_examples=600, deadline=None)
@given(tokens, st.text("ab/", max_size=8))
def test_like_a_naive_matcher(pattern: list[Token], text: str) -> None:
    found = re.compile(wild_expression(pattern), re.DOTALL).match(text)
    assert (found is not None) == naively(pattern, text)


def test_a_line_break_is_a_character_and_not_an_end() -> None:
    expression = re.compile(wild_expression(["a", Wild.NAME_PART]), re.DOTALL)
    assert expression.match("a\nb\n")
    assert not re.compile(wild_expression(["a"]), re.DOTALL).match("a\n")


def test_time_does_not_explode() -> None:
    started = time.monotonic()
    for wild in Wild:
        expression = re.compile(wild_expression(["a", wild] * 40 + ["b"]), re.DOTALL)
        assert expression.match("a" * 4000 + "/") is None
    assert time.monotonic() - started < 5
