"""Durations in words."""

import pytest

from tejat.ui.shared.labels.durations import format_duration, format_elapsed


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "under 0.1 s"),
        (0.049, "under 0.1 s"),
        (0.05, "0.1 s"),
        (0.34, "0.3 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (65, "1 min 5 s"),
        (7380, "2 h 3 min"),
        (float("inf"), "inf s"),
        (float("-inf"), "under 0.1 s"),
        (float("nan"), "nan s"),
    ],
)
def test_what_is_over(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words


@pytest.mark.parametrize(("seconds", "words"), [(-1.0, "0 s"), (0.9, "0 s"), (59.9, "59 s"), (61.5, "1 min 1 s")])
def test_what_goes_on(seconds: float, words: str) -> None:
    assert format_elapsed(seconds) == words
