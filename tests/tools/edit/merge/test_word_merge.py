"""The change of one line made in another that differs a little from it."""

import pytest

from tejat.tools.edit.merge.word_merge import escaped_signs, merge_line


@pytest.mark.parametrize(
    ("old", "found", "new", "after"),
    [
        pytest.param("a = b", "a = b", "a = c", "a = c", id="the same line"),
        pytest.param("a = b", "a  =  b", "a = b", "a  =  b", id="no change"),
        pytest.param("a = b", "a  =  b", "a = c", "a  =  c", id="other spacing stays"),
        pytest.param("call(frist, x)", "call(first, x)", "call(frist, y)", "call(first, y)", id="a typo stays mended"),
        pytest.param("x = 1", "x = 2", "x = 3", None, id="another number"),
        pytest.param("a == b", "a != b", "a == c", None, id="another operator"),
        pytest.param("say(one)", "say(two)", "say(three)", None, id="another word in the very place"),
        pytest.param('say("a")', 'say(\\"a\\")', 'say("b")', 'say(\\"b\\")', id="escaped in the file"),
        pytest.param('say("a")', 'say(\\"a\\")', 'say("a", "b")', None, id="more of what is escaped"),
        pytest.param("done", "done", "done  ", "done  ", id="white space at the end"),
    ],
)
def test_a_line(old: str, found: str, new: str, after: str | None) -> None:
    assert merge_line(old, found, new) == after


def test_signs_that_are_escaped_on_one_side() -> None:
    assert escaped_signs("say(\"a\", 'b')", "say(\\\"a\\\", 'b')") == {'"', "\\"}
