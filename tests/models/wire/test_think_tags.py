"""Thoughts between tags."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.models.wire.think_tags import ThinkTagParser

ANSWERS = [
    ("", ("", "")),
    ("Hello", ("", "Hello")),
    ("  Hello", ("", "  Hello")),
    ("<think>hm</think>Hello", ("hm", "Hello")),
    ("\n<think>\nhm\n</think>\n\nHello\n", ("\nhm\n", "Hello\n")),
    ("<think></think>\n\nHello", ("", "Hello")),
    ("<think>a < b </thin </think>c", ("a < b </thin ", "c")),
    ("<think>never closed", ("never closed", "")),
    ("<think>never closed</thi", ("never closed</thi", "")),
    ("<think>a</think><think>b</think>c", ("a", "<think>b</think>c")),
    ("Use <think>tags</think>.", ("", "Use <think>tags</think>.")),
    ("<thin", ("", "<thin")),
    ("<thinking>x</thinking>", ("", "<thinking>x</thinking>")),
    ("</think>Hello", ("", "</think>Hello")),
    (" " * 3000 + "x", ("", " " * 3000 + "x")),
]


def taken_apart(pieces: list[str]) -> tuple[str, str]:
    tags = ThinkTagParser()
    fed = [tags.feed(piece) for piece in pieces] + [tags.end()]
    return "".join(thought for thought, _ in fed), "".join(text for _, text in fed)


@pytest.mark.parametrize(("answer", "expected"), ANSWERS)
def test_an_answer_is_taken_apart(answer: str, expected: tuple[str, str]) -> None:
    assert taken_apart([answer]) == expected


@pytest.mark.parametrize(("answer", "expected"), [pair for pair in ANSWERS if len(pair[0]) < 100])
def test_wherever_it_is_cut(answer: str, expected: tuple[str, str]) -> None:
    assert taken_apart(list(answer)) == expected
    for place in range(len(answer)):
        assert taken_apart([answer[:place], answer[place:]]) == expected


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(["<think>", "</think>", "<", "</", "think>", " ", "\n", "word"]), max_size=12))
def test_nothing_is_lost_but_tags_and_blanks(pieces: list[str]) -> None:
    whole = taken_apart(["".join(pieces)])
    assert taken_apart(pieces) == whole
    kept = "".join(part.replace("<think>", "").replace("</think>", "") for part in whole)
    assert "".join(kept.split()) == "".join("".join(pieces).replace("<think>", "").replace("</think>", "").split())
