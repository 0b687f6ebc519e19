"""Given lines laid along the lines of a file."""

from support.edit_alignment import best_alignment, indexed
from tejat.tools.edit.match.alignment import align, alignment_window, straight_walk_cost, verbatim_costs
from tejat.tools.edit.match.search_block import SearchBlock

TEXT = "import os\n\ndef run():\n    first()\n    second()\n    third()\n\ndef stop():\n    last()\n"


def test_lines_as_they_are() -> None:
    _, _, alignment = best_alignment("    first()\n    second()", TEXT)
    assert (alignment.positions, alignment.total_cost) == ((3, 4), 0)
    assert (alignment.start, alignment.end, alignment.matched_lines()) == (3, 5, [3, 4])


def test_a_line_that_the_file_lacks_has_no_position() -> None:
    _, _, alignment = best_alignment("    first()\n    nothing_like_it(1)\n    second()", TEXT)
    assert alignment.positions == (3, None, 4)


def test_a_line_that_only_the_file_has_is_skipped() -> None:
    _, _, alignment = best_alignment("def run():\n    first()\n    third()", TEXT)
    assert alignment.positions == (2, 3, 5)


def test_blank_lines_cost_little() -> None:
    _, _, alignment = best_alignment("import os\ndef run():", TEXT)
    assert alignment.positions == (0, 2)
    assert alignment.total_cost < 10


def test_dots_stand_for_the_lines_between() -> None:
    _, _, alignment = best_alignment("def run():\n    ...\n    third()", TEXT)
    assert alignment.positions == (2, None, 5)
    assert alignment.elided == {1: (3, 5)}


def test_nothing_that_fits() -> None:
    assert align(SearchBlock(["completely = other(text)"]), indexed(TEXT), 3, 2) == []


def test_alignments_are_shifted_with_their_elisions() -> None:
    _, _, alignment = best_alignment("def run():\n    ...\n    third()", TEXT)
    shifted = alignment.shift_by(10)
    assert (shifted.positions, shifted.elided) == ((12, None, 15), {1: (13, 15)})
    assert not shifted.shares_line_with(alignment)
    assert alignment.shares_line_with(alignment)


def test_none_costs_more_than_the_limit() -> None:
    block = SearchBlock(["    first()", "    secnod()"])
    assert align(block, indexed(TEXT), 3, 2) != []
    assert align(block, indexed(TEXT), 3, 2, limit=5) == []


def test_a_straight_walk_costs_no_less_than_the_best_alignment() -> None:
    block, target = SearchBlock(["    first()", "    third()"]), indexed(TEXT)
    assert straight_walk_cost(block, target, 3) >= align(block, target, 3, 4)[0].total_cost
    assert straight_walk_cost(SearchBlock(["not here at all"]), target, 3) == float("inf")


def test_costs_where_all_lines_stand() -> None:
    assert list(verbatim_costs(SearchBlock(["a = 1", "b"]), indexed("a = 1\nb\nx\na = 1\n    b\n"))) == [0, 4]
    assert list(verbatim_costs(SearchBlock(["a", "b"]), indexed("a\nc\n"))) == []


def test_equal_lines_around_a_start_are_equal_windows() -> None:
    target = indexed("a\nb\n" * 20)
    block = SearchBlock(["a", "b"])
    assert alignment_window(block, target, 10, 2) == alignment_window(block, target, 20, 2)
    assert alignment_window(block, target, 10, 2) != alignment_window(block, target, 11, 2)
