"""What a repair does to lines that were found."""

from tejat.tools.edit.match.candidates import find_candidates
from tejat.tools.edit.match.indexed_file import IndexedFile
from tejat.tools.edit.match.search_block import SearchBlock
from tejat.tools.edit.repair.repair_effect import estimate_effect
from tejat.workspace.text.encoding import detect_encoding
from tejat.workspace.text.text_edits import TextFile

TEXT = b"""\
def greet(name):
    say("Good morning, " + name)
    return name


def leave(name):
    say("Bye, " + name)
"""


def effect(given: str, repaired: str, text: bytes = TEXT) -> str | None:
    encoding = detect_encoding(text, whole=True)
    assert encoding is not None
    target = IndexedFile(TextFile(text, encoding))
    old = SearchBlock.from_text(given)
    return estimate_effect(old, SearchBlock.from_text(repaired), target, find_candidates(old, target).alignments)


def test_a_line_that_was_right_comes_farther() -> None:
    right = 'def greet(name):\n    say("Good morning, " + name)\n'
    assert effect(right, right.replace('"', '\\"')) == "farther"


def test_a_line_that_is_another_one_stays_so() -> None:
    stale = 'def greet(name):\n    shout_aloud("!")\n    return name\n'
    assert effect(stale, stale.replace('"', '\\"')) == "none"


def test_a_line_that_comes_nearer_has_to_be_looked_at() -> None:
    escaped = 'def greet(name):\n    say(\\"Good mourning, \\" + name)\n    return name\n'
    assert effect(escaped, escaped.replace('\\"', '"')) is None


def test_a_line_that_is_near_elsewhere_has_to_be_looked_at() -> None:
    escaped = '    return name\n    say(\\"Bye, \\" + nam)\n'
    assert effect(escaped, escaped.replace('\\"', '"')) is None


def test_other_lines_have_to_be_looked_at() -> None:
    assert effect("def greet(name):\n", "def greet(name):\n    return name\n") is None


def test_what_is_nowhere_stays_so() -> None:
    assert effect("nothing of the kind 1\n", "nothing of the kind 2\n") == "none"
