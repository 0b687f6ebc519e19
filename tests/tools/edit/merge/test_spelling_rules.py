"""What stands for the same character everywhere is learned, and nothing else."""

import pytest

from tejat.tools.edit.merge.spelling_rules import learn_spelling


@pytest.mark.parametrize(
    ("pairs", "line", "written"),
    [
        ([("say(“a”)", 'say("a")')], "tell(“b”)", 'tell("b")'),
        ([("f（a）", "f(a)")], "g（b）", "g(b)"),
        ([("gro\u0308ße", "größe")], "ho\u0308he", "höhe"),
        ([("it’s", "it's"), ("she’s", "she’s")], "he’s", "he’s"),
        ([('say("a")', "say(“a”)")], 'tell("b")', 'tell("b")'),
        ([], "a’b", "a’b"),
    ],
)
def test_spelling(pairs: list[tuple[str, str]], line: str, written: str) -> None:
    assert learn_spelling(pairs)(line) == written
