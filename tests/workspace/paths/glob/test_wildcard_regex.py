"""An expression with atomic groups matches just what a naive matcher matches."""

import re
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.workspace.paths.glob.wildcard_regex import Wildcard, WildcardToken, wildcard_regex


def may_stand(pattern: list[WildcardToken]) -> bool:
    """Whether `DIRECTORIES` stands only where it may."""
    return all(
        before[-1:] in ([], ["/"], [Wildcard.DIRECTORIES]) or not any(isinstance(token, Wildcard) for token in before)
        for index, token in enumerate(pattern)
        if token is Wildcard.DIRECTORIES and (before := pattern[:index]) is not None
    )


tokens = st.lists(st.sampled_from(["a", "b", "/", "/", "[^/]", *Wildcard]), max_size=8).filter(may_stand)


def naively(pattern: list[WildcardToken], text: str) -> bool:
    if not pattern:
        return not text
    first, *rest = pattern
    if first is Wildcard.WITHIN_NAME:
        return naively(rest, text) or (text[:1] not in ("", "/") and naively(pattern, text[1:]))
    if first is Wildcard.ANY:
        return naively(rest, text) or (text != "" and naively(pattern, text[1:]))
    if first is Wildcard.DIRECTORIES:
        return naively(rest, text) or naively([Wildcard.ANY, "/", *rest], text)
    return text != "" and (text[0] == first or (first == "[^/]" and text[0] != "/")) and naively(rest, text[1:])


@settings(max_examples=600, deadline=None)
@given(tokens, st.text("ab/", max_size=8))
def test_like_a_naive_matcher(pattern: list[WildcardToken], text: str) -> None:
    found = re.compile(wildcard_regex(pattern), re.DOTALL).match(text)
    assert (found is not None) == naively(pattern, text)


def test_a_line_break_is_a_character_and_not_an_end() -> None:
    expression = re.compile(wildcard_regex(["a", Wildcard.WITHIN_NAME]), re.DOTALL)
    assert expression.match("a\nb\n")
    assert not re.compile(wildcard_regex(["a"]), re.DOTALL).match("a\n")


def test_time_does_not_explode() -> None:
    started = time.process_time()
    for wild in Wildcard:
        expression = re.compile(wildcard_regex(["a", wild] * 40 + ["b"]), re.DOTALL)
        assert expression.match("a" * 4000 + "/") is None
    assert time.process_time() - started < 5
