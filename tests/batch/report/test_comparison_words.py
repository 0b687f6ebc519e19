"""The verdict in plain words, and the comparison as JSON."""

import json

from support.batch_results import errored, failed, passed
from tejat.batch.report.comparison import BatchComparison, compare_batches
from tejat.batch.report.comparison_words import chance_label, comparison_to_json, paired_lines, verdict
from tejat.core.json_text import dump_json


def compare(only_first: int, only_second: int, both: int = 0) -> BatchComparison:
    ids = [f"t{number}" for number in range(only_first + only_second + both)]
    first = [
        passed(each) if index < only_first or index >= only_first + only_second else failed(each)
        for index, each in enumerate(ids)
    ]
    second = [failed(each) if index < only_first else passed(each) for index, each in enumerate(ids)]
    return compare_batches(first, second, first_name="A", second_name="B")


def test_a_small_difference_may_be_chance() -> None:
    assert verdict(compare(1, 3)) == (
        "1 task passed only in A, 3 tasks only in B. This may be chance: two equally good batches differ at least this "
        "much in 62 % of all comparisons (p = 0.62). More tasks, or several runs of each, would show more."
    )


def test_a_large_difference_is_evidence() -> None:
    assert verdict(compare(1, 12)) == (
        "1 task passed only in A, 12 tasks only in B. B is probably better: two equally good batches differ this much "
        "in only 0.3 % of all comparisons (p = 0.0034)."
    )
    assert "A is probably better" in verdict(compare(12, 1))


def test_no_difference() -> None:
    assert verdict(compare(0, 0, both=3)) == "Both passed exactly the same tasks."
    nothing = compare_batches([errored("a")], [passed("a")], first_name="A", second_name="B")
    assert verdict(nothing) == "No task was tried in both batches, so there is nothing to compare."


def test_chances() -> None:
    assert [chance_label(each) for each in (0.5, 0.034, 0.00001, 1.0)] == ["50 %", "3.4 %", "less than 0.1 %", "100 %"]


def test_cost_and_time() -> None:
    first, second = [passed("a", cost=0.5, seconds=10.0)], [passed("a", cost=0.25, seconds=20.0)]
    compared = compare_batches(first, second, first_name="A", second_name="B")
    assert paired_lines(compared) == [
        "Cost on 1 task passed in both: $0.50 to $0.25 (-50 %); less in A on 0, in B on 1.",
        "Time on 1 task passed in both: 10 s to 20 s (+100 %); less in A on 1, in B on 0.",
    ]
    assert paired_lines(compare(1, 1)) == []


def test_json() -> None:
    compared = compare_batches([passed("a"), failed("b")], [passed("a")], first_name="A", second_name="B")
    found = json.loads(dump_json(comparison_to_json(compared)))
    assert (found["first"]["name"], found["first"]["total"], found["second"]["passed"]) == ("A", 2, 1)
    assert found["outcomes"]["both_passed"] == found["outcomes"]["missing"] == 1
    assert found["p_value"] == 1.0
    assert found["tasks"][1]["id"] == "b"
    assert found["tasks"][1]["first"]["status"] == "failed"
    assert found["tasks"][1]["second"] is None
