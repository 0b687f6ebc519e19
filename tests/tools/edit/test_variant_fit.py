"""One variant of a request laid along the file."""

import pytest

from support.edit_alignment import indexed
from tejat.tools.edit.repair.variants import RepairedRequest
from tejat.tools.edit.request import EditRequest
from tejat.tools.edit.result import EditMatch
from tejat.tools.edit.variant_fit import CONTEXT_NOTE, VariantFit

TEXT = "def run(self):\n    first_call()\n    second_call()\n\ndef stop(self):\n    first_call()\n    last_call()\n"


def fit(old: str, new: str, text: str = TEXT) -> VariantFit:
    request = EditRequest(old, new)
    return VariantFit(indexed(text), RepairedRequest.from_request(request), request)


def test_edits_with_notes_about_what_differs() -> None:
    match = fit("first_call()\nsecond_call()", "first_call()\nthird_call()").to_match()
    assert match is not None
    assert [edit.text for edit in match.edits] == ["thir"]
    assert (match.count, match.corrections) == (1, ("overlooked: indentation",))


def test_context_in_the_new_text_decides_between_equal_places() -> None:
    match = fit("first_call() ", "def stop(self):\n    other_call()").to_match()
    assert isinstance(match, EditMatch)
    assert match.corrections == (CONTEXT_NOTE,)


def test_a_conflict_becomes_a_refusal_at_its_line() -> None:
    variant = fit(
        "def run(self):\n    first_call()\n    second_called = 5", "def run(self):\n    first_call()\n    x = 6"
    )
    assert variant.to_match() is None
    assert variant.to_refusal().nearest[0].start == 0


def test_an_edit_that_is_applied_already() -> None:
    variant = fit("    gone_call()\n    second_call()", "    first_call()\n    second_call()")
    assert variant.to_match() is None
    assert variant.to_refusal().is_applied


def test_marks_of_a_listing_are_never_written() -> None:
    variant = fit(" def run(self):\n   first_call()", "```\ndef run(self):\n    other_call()\n```")
    assert variant.to_match() is None
    conflict = variant.to_refusal().conflict
    assert conflict is not None
    assert "marks of a listing" in conflict.reason


@pytest.mark.parametrize("worse", ["first_call()\nsecond_cal()", "first_call()\nwhatever = 1"])
def test_the_score_of_a_worse_match_is_higher(worse: str) -> None:
    assert fit(worse, "x").score > fit("first_call()\nsecond_call()", "x").score


def test_a_text_that_is_nowhere_has_no_score() -> None:
    assert fit("nothing = like(it)", "x").score == float("inf")
