"""Lines next to dots, which have to be certain."""

import pytest

from support.edit_alignment import best_alignment
from tejat.tools.edit.conflict import MergeConflict
from tejat.tools.edit.merge.elision_guard import check_elisions

TEXT = "def run():\n    alpha()\n    bravo()\n    charlie()\n    delta()\n"


def check(old: str, new: str, text: str = TEXT) -> None:
    block, target, alignment = best_alignment(old, text)
    check_elisions(block, new.split("\n"), target, alignment)


def test_lines_next_to_dots_that_stand_there_once() -> None:
    check("def run():\n    ...\n    delta()", "def run():\n    ...\n    new()")


def test_a_line_that_stands_among_those_left_out_too() -> None:
    text = "def run():\n    alpha()\n    delta()\n    bravo()\n    delta()\n"
    with pytest.raises(MergeConflict, match="could be meant as well"):
        check("def run():\n    ...\n    delta()", "def run():\n    ...\n    new()", text)


def test_lines_that_do_not_change_need_not_be_certain() -> None:
    text = "def run():\n    alpha()\n    delta()\n    bravo()\n    delta()\n"
    check("def run():\n    ...\n    delta()", "def walk():\n    ...\n    delta()", text)


def test_without_dots_there_is_nothing_to_check() -> None:
    check("    alpha()\n    bravo()", "    new()")
