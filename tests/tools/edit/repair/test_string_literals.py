"""Line breaks inside string literals."""

import pytest

from tejat.tools.edit.repair.string_literals import breaks_inside_literal, has_broken_literal, spans_literal


@pytest.mark.parametrize(
    ("before", "after", "is_inside"),
    [
        ('say("one', 'two")', True),
        ("say('one", "two')", True),
        ('say("one")', 'say("two")', False),
        ('"""one', 'two"""', False),
        ("it's", "that's", False),
        ('say(\\"one', 'two\\")', False),
    ],
)
def test_a_break(before: str, after: str, is_inside: bool) -> None:
    assert breaks_inside_literal(before, after) is is_inside


def test_a_literal_over_several_lines() -> None:
    assert spans_literal(['say("one', "two", 'three")'])
    assert not spans_literal(['say("one', '"two"', 'three")'])


def test_any_break_of_a_text() -> None:
    assert has_broken_literal('a\nsay("one\ntwo")')
    assert not has_broken_literal('a\nsay("one")\nb')
