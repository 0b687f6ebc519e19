"""Lines that the old text has in another order than the file."""

import pytest

from support.edit_alignment import best_alignment
from tejat.tools.edit.conflict import MergeConflict
from tejat.tools.edit.repair.line_order import check_order, find_file_order, reorder_request
from tejat.tools.edit.request import EditRequest

TEXT = "alpha()\nbravo()\ncharlie()\ndelta()\necho()\n"


def order(old: str) -> list[int] | None:
    return find_file_order(*best_alignment(old, TEXT))


def test_neighbors_that_are_swapped() -> None:
    assert order("alpha()\ncharlie()\nbravo()\ndelta()") == [0, 2, 1, 3]
    assert order("bravo()\nalpha()\ncharlie()\ndelta()") == [1, 0, 2, 3]
    assert order("alpha()\nbravo()\ndelta()\ncharlie()") == [0, 1, 3, 2]


def test_a_line_that_moved_farther() -> None:
    assert order("delta()\nalpha()\nbravo()\ncharlie()\necho()") == [1, 2, 3, 0, 4]


def test_the_same_order_and_lines_that_are_not_there() -> None:
    assert order("alpha()\nbravo()\ncharlie()") is None
    assert order("alpha()\nzulu()\ncharlie()") is None


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ("a1\nc3\nb2\nd5", "a1\nb2\nc3\nd5"),
        ("a1\nb2\nc3\nd5", "a1\nb2\nc3\nd5"),
        ("a1\nx\nc3\nb2\nd4", "a1\nx\nb2\nc3\nd4"),
        ("a1\nc3\nb2\nx\nd4", "a1\nb2\nc3\nx\nd4"),
        ("a1\nc3\nb7\nd4", "a1\nb7\nc3\nd4"),
        ("a1\nb2\nd4", "a1\nb2\nd4"),
        ("a1\nc3\nx\nb2\nd4", None),
        ("a1\nx\ny\nz\nd4", None),
    ],
)
@pytest.mark.parametrize("end", ["", "\n"])
def test_the_new_text_follows(new: str, expected: str | None, end: str) -> None:
    names = {"a1": "alpha = 1", "b2": "bravo = 2", "b7": "bravo = 7", "c3": "charlie = 3", "d4": "delta = 4"}
    names |= {"d5": "delta = 5"}

    def spell(text: str) -> str:
        return "\n".join(names.get(line, line) for line in text.split("\n")) + end

    reordered = reorder_request(EditRequest(spell("a1\nc3\nb2\nd4"), spell(new)), [0, 2, 1, 3])
    if expected is None:
        assert reordered is None
    else:
        assert reordered == EditRequest(spell("a1\nb2\nc3\nd4"), spell(expected))


def test_brackets_are_not_told_apart() -> None:
    request = EditRequest("{\nalpha()\n}\nbravo()\n", "{\nalpha()\n}\ncharlie()\n}\nbravo()\n")
    assert reorder_request(request, [0, 1, 3, 2]) is None


class TestLinesThatAreMoved:
    TEXT = "alpha()\nbravo()\ncharlie()\nbravo()\ndelta()\n"

    def test_a_line_that_stands_there_once_more(self) -> None:
        block, target, alignment = best_alignment("alpha()\ncharlie()\nbravo()\ndelta()", self.TEXT)
        with pytest.raises(MergeConflict, match="in another order"):
            check_order(block, ["alpha()", "bravo()", "charlie()", "delta()"], target, alignment)

    def test_nothing_is_moved(self) -> None:
        block, target, alignment = best_alignment("alpha()\ncharlie()\nbravo()\ndelta()", self.TEXT)
        check_order(block, ["alpha()", "charlie()", "bravo()", "echo()"], target, alignment)

    def test_they_stand_there_once(self) -> None:
        block, target, alignment = best_alignment("alpha()\nbravo()\ncharlie()", TEXT)
        check_order(block, ["bravo()", "alpha()", "charlie()"], target, alignment)
