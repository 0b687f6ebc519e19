"""Marks and escapes are taken off the old text, and off the new one only where it has the same."""

import pytest

from tejat.tools.edit.repair.variants import RepairedRequest, generate_variants
from tejat.tools.edit.request import EditRequest

_TEXT = r"a file with a \" and an &amp;"


@pytest.mark.parametrize(
    ("old", "new", "repaired"),
    [
        pytest.param("```py\na = 1\n```", "```py\na = 2\n```", ("a = 1\n", "a = 2\n"), id="a fence"),
        pytest.param("```\na = 1\n```", "a = 2", ("a = 1", "a = 2"), id="a fence around the old text only"),
        pytest.param("7: a\n8: b", "7: a\n8: c", ("a\nb", "a\nc"), id="line numbers"),
        pytest.param("7\ta\n8\tb", "a\nc", ("a\nb", "a\nc"), id="line numbers in the old text only"),
        pytest.param("7: a\n8: b", "7: a\n9: x\n8: b", ("a\nb", "a\nx\nb"), id="a line number of an added line"),
        pytest.param(" 8\ta\n 9\tb", " 9\tb\n10\tc", ("a\nb", "b\nc"), id="line numbers that end in one column"),
        pytest.param("7: a\n8: b", "7: a\n  9: x", ("a\nb", "a\n  9: x"), id="a number that stands elsewhere"),
        pytest.param("7: a\n8: b", "a\n9: x\nb", ("a\nb", "a\n9: x\nb"), id="a number where no line has any"),
        pytest.param("7→a\n8→b", "7→a\n42\n8→b", ("a\nb", "a\n42\nb"), id="a number on a line of its own"),
        pytest.param("7→a\n8→b", "1. x\n2. y", ("a\nb", "1. x\n2. y"), id="other numbers throughout"),
        pytest.param(" a\n-b", " a\n+c", ("a\nb", "a\nc"), id="the signs of a diff"),
        pytest.param("> a\n> b", "> a\n> c", ("a\nb", "a\nc"), id="quote marks"),
        pytest.param('say(\\"a\\")', 'say(\\"b\\")', ('say("a")', 'say("b")'), id="escaped quotes"),
        pytest.param("if a:\\n    b", "if a:\\n    c", ("if a:\n    b", "if a:\n    c"), id="escaped line ends"),
        pytest.param('say(\\"a\\")', 'say("\\n")', ('say("a")', 'say("\\n")'), id="new text that is right stays"),
        pytest.param("a &lt; b", "a &lt; c", ("a < b", "a < c"), id="entities"),
        pytest.param("```\n1: a\n2: b\n```", "a\nc", ("a\nb", "a\nc"), id="two at once"),
    ],
)
def test_among_the_repairs(old: str, new: str, repaired: tuple[str, str]) -> None:
    assert repaired in [
        (each.request.old, each.request.new) for each in generate_variants(EditRequest(old, new), _TEXT)
    ]


def test_an_ordinary_text_has_no_marks() -> None:
    request = EditRequest("def run(self):\n    return self.value\n", "x")
    assert [each.notes for each in generate_variants(request, _TEXT) if each.is_from_listing] == []


def test_numbers_that_do_not_rise_are_text() -> None:
    request = EditRequest("1: a\n1: b", "x")
    assert "a\nb" not in [each.old for each in generate_variants(request, _TEXT)]


@pytest.mark.parametrize(("sign", "written"), [("\\", 'say(\\"a\\")'), ("&", "say(&quot;a&quot;)")])
def test_what_the_file_has_none_of_is_not_put_on(sign: str, written: str) -> None:
    request = EditRequest('say("a")', "x")
    assert written in [each.old for each in generate_variants(request, _TEXT)]
    assert written not in [each.old for each in generate_variants(request, _TEXT.replace(sign, ""))]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [("a\nb", "c", ["a", "b"]), ("a\nb\n", "c\n", ["a", "b"]), ("a\nb\n", "c", ["a", "b", ""]), ("a\n", "", ["a"])],
)
def test_a_line_end_that_only_the_old_text_has_is_a_blank_line(old: str, new: str, lines: list[str]) -> None:
    assert RepairedRequest.from_request(EditRequest(old, new)).block.lines == lines
