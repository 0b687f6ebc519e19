"""The number of characters that differ, against the table that everybody learns."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.tools.edit.match.levenshtein import levenshtein_distance


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("", "", 0),
        ("", "abc", 3),
        ("abc", "", 3),
        ("abc", "abc", 0),
        ("kitten", "sitting", 3),
        ("ab", "ba", 2),
        ("naïve", "naive", 1),
        ("x" * 300, "x" * 200 + "y" + "x" * 99, 1),
    ],
)
def test_known_ones(first: str, second: str, expected: int) -> None:
    assert levenshtein_distance(first, second) == expected


@settings(max_examples=300, deadline=None)
@given(st.text("abc", max_size=20), st.text("abc", max_size=20))
def test_the_same_as_the_whole_table(first: str, second: str) -> None:
    assert levenshtein_distance(first, second) == by_table(first, second)


@settings(max_examples=300, deadline=None)
@given(st.text("abc", max_size=20), st.text("abc", max_size=20), st.integers(0, 20))
def test_up_to_a_limit(first: str, second: str, most: int) -> None:
    expected = by_table(first, second)
    found = levenshtein_distance(first, second, limit=most)
    assert found == expected if expected <= most else found > most


def test_long_texts() -> None:
    chance = random.Random(4)
    first = "".join(chance.choices("abcdef", k=700))
    second = "".join(chance.choices("abcdef", k=500))
    assert levenshtein_distance(first, second) == by_table(first, second)


def by_table(first: str, second: str) -> int:
    row = list(range(len(second) + 1))
    for count, one in enumerate(first, 1):
        last, row = row, [count]
        for index, other in enumerate(second):
            row.append(min(last[index + 1] + 1, row[index] + 1, last[index] + (one != other)))
    return row[-1]
