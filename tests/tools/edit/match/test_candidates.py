"""Places in a file where a block may stand."""

from typing import Any

from support.edit_alignment import indexed
from tejat.tools.edit.match.candidates import find_candidates, find_lines_with_words
from tejat.tools.edit.match.search_block import SearchBlock

TEXT = "".join(f"def step_{word}():\n    call_{word}()\n\n" for word in ("alpha", "bravo", "charlie", "delta"))


def starts(old: str, text: str = TEXT, **options: Any) -> list[int]:
    return [each.start for each in find_candidates(SearchBlock.from_text(old), indexed(text), **options).alignments]


def test_the_place_of_lines_that_are_there() -> None:
    assert starts("def step_charlie():\n    call_charlie()") == [6]


def test_the_place_of_lines_with_a_typo_is_found_by_their_words() -> None:
    assert starts("def setp_bravo():\n    cal_bravo()") == [3]


def test_equal_places() -> None:
    assert sorted(starts("same_line()", "same_line()\nother\nsame_line()\n")) == [0, 2]


def test_a_text_that_is_nowhere() -> None:
    assert starts("entirely different words here") == []


def test_a_text_with_too_many_unknown_lines_is_not_compared() -> None:
    assert starts("\n".join(["    call_alpha()", *(f"unknown_{number} = None" for number in range(201))])) == []


def test_only_the_given_start_lines_are_compared() -> None:
    found = find_candidates(SearchBlock(["same()"]), indexed("same()\n" * 3), start_lines=[1])
    assert (found.start_lines, [each.start for each in found.alignments]) == ([1], [1])


def test_more_equal_places_than_are_compared() -> None:
    found = find_candidates(SearchBlock(["same_line()"]), indexed("same_line()\nother_line()\n" * 200))
    assert found.is_truncated


def test_the_nearest_places_are_shown_even_if_they_do_not_rival_the_best() -> None:
    found = find_candidates(SearchBlock(["def step_alpha():", "    call_alpha()"]), indexed(TEXT))
    assert [each.start for each in found.nearest_for_display()][:1] == [0]


def test_lines_with_words_of_a_line() -> None:
    found = find_lines_with_words(SearchBlock(["call_delta(now)"]), 0, indexed(TEXT))
    assert max(found, key=lambda line: found[line]) == 10
