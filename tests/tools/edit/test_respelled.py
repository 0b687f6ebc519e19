"""What a repair does to lines that were found."""

from tejat.tools.edit.given import Given
from tejat.tools.edit.page import Page
from tejat.tools.edit.places import places
from tejat.tools.edit.respelled import effect_of
from tejat.workspace.encoding import detect
from tejat.workspace.splice import TextFile

TEXT = b"""\
def greet(name):
    say("Good morning, " + name)
    return name


def leave(name):
    say("Bye, " + name)
"""


def effect(given: str, repaired: str, text: bytes = TEXT) -> str | None:
    encoding = detect(text, whole=True)
    assert encoding is not None
    page = Page(TextFile(text, encoding))
    old = Given.of(given)
    return effect_of(old, Given.of(repaired), page, places(old, page).rivals)


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
