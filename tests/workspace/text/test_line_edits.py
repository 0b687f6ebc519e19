import random
import time
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tejat.workspace.text.line_edits import DiffEdit, common_prefix, common_suffix, compute_line_edits

few_lines = st.lists(st.sampled_from("abcd"), max_size=14)
some_lines = st.lists(st.sampled_from("abcdefghij\n"), max_size=40)
budgets = st.sampled_from([0, 1, 9, 40, 200, 1_000, 300_000])


def applied(old: Sequence[str], new: Sequence[str], edits: Sequence[DiffEdit]) -> list[str]:
    result: list[str] = []
    at = 0
    for edit in edits:
        result += old[at : edit.old_start]
        result += new[edit.new_start : edit.new_end]
        at = edit.old_end
    return result + list(old[at:])


def changed(edits: Sequence[DiffEdit]) -> int:
    return sum(edit.old_end - edit.old_start + edit.new_end - edit.new_start for edit in edits)


def fewest_changes(old: Sequence[str], new: Sequence[str]) -> int:
    """The plain textbook table of the longest common subsequence."""
    row = [0] * (len(new) + 1)
    for left in old:
        diagonal = 0
        for index, right in enumerate(new):
            above = row[index + 1]
            row[index + 1] = diagonal + 1 if left == right else max(above, row[index])
            diagonal = above
    return len(old) + len(new) - 2 * row[-1]


def assert_well_formed(old: Sequence[str], new: Sequence[str], edits: Sequence[DiffEdit]) -> None:
    old_at = new_at = 0
    for index, edit in enumerate(edits):
        assert edit.old_start < edit.old_end or edit.new_start < edit.new_end
        # The same lines stand between two edits on both sides, and at least one of them.
        assert edit.old_start - old_at == edit.new_start - new_at
        assert index == 0 or edit.old_start > old_at
        assert list(old[old_at : edit.old_start]) == list(new[new_at : edit.new_start])
        old_at, new_at = edit.old_end, edit.new_end
    assert list(old[old_at:]) == list(new[new_at:])


class TestEdits:
    def test_equal_texts_have_none(self) -> None:
        assert compute_line_edits(["a", "b"], ["a", "b"]) == []
        assert compute_line_edits([], []) == []

    def test_everything_is_added_or_removed(self) -> None:
        assert compute_line_edits([], ["a", "b"]) == [DiffEdit(0, 0, 0, 2)]
        assert compute_line_edits(["a", "b"], []) == [DiffEdit(0, 2, 0, 0)]

    def test_one_line_changed_added_removed(self) -> None:
        assert compute_line_edits(list("abcde"), list("abXde")) == [DiffEdit(2, 3, 2, 3)]
        assert compute_line_edits(list("abde"), list("abXde")) == [DiffEdit(2, 2, 2, 3)]
        assert compute_line_edits(list("abXde"), list("abde")) == [DiffEdit(2, 3, 2, 2)]

    def test_two_places(self) -> None:
        assert compute_line_edits(list("abcdefgh"), list("aXcdefYYh")) == [DiffEdit(1, 2, 1, 2), DiffEdit(6, 7, 6, 8)]

    def test_unique_lines_moved_do_not_cost_the_rest(self) -> None:
        # The one unique line has moved; anchoring on it alone would replace everything else.
        old = ["unique", *["a", "b", "c", "a"] * 100]
        new = [*["a", "b", "c", "a"] * 100, "unique"]
        assert compute_line_edits(old, new) == [DiffEdit(0, 1, 0, 0), DiffEdit(401, 401, 400, 401)]

    def test_lines_that_occur_twice_are_anchors_when_no_line_is_unique(self) -> None:
        old = [f"line {index // 2}" for index in range(40_000)]
        new = [f"changed {index}" if index % 10 == 3 else line for index, line in enumerate(old)]
        assert compute_line_edits(old, new) == [
            DiffEdit(index, index + 1, index, index + 1) for index in range(3, 40_000, 10)
        ]

    def test_only_lines_that_stand_alone_on_both_sides_are_anchors(self) -> None:
        lines = [f"line {index}" for index in range(20_000)]
        new = ["first", *lines, *lines[:15_000]]
        assert compute_line_edits(lines, new) == [DiffEdit(0, 0, 0, 1), DiffEdit(20_000, 20_000, 20_001, 35_001)]

    def test_the_longer_of_two_swapped_blocks_stays(self) -> None:
        lines = [f"line {index}" for index in range(20_000)]
        assert compute_line_edits(lines, lines[12_000:] + lines[:12_000]) == [
            DiffEdit(0, 0, 0, 8_000),
            DiffEdit(12_000, 20_000, 20_000, 20_000),
        ]

    def test_without_a_budget_the_middle_is_replaced_whole(self) -> None:
        assert compute_line_edits(list("abcdefgh"), list("aXcdefYh"), budget=0) == [DiffEdit(1, 7, 1, 7)]


@settings(max_examples=200, deadline=None)
@given(some_lines, some_lines, budgets)
def test_edits_always_turn_old_into_new(old: list[str], new: list[str], budget: int) -> None:
    edits = compute_line_edits(old, new, budget=budget)
    assert applied(old, new, edits) == new
    assert_well_formed(old, new, edits)


@settings(max_examples=200, deadline=None)
@given(few_lines, few_lines)
def test_small_inputs_have_the_fewest_changes(old: list[str], new: list[str]) -> None:
    assert changed(compute_line_edits(old, new)) == fewest_changes(old, new)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([3, 30, 3000]), st.integers(1, 40))
def test_larger_inputs_are_near_the_fewest(seed: int, alphabet: int, changes: int) -> None:
    chance = random.Random(seed)
    old = [str(chance.randrange(alphabet)) for _ in range(300)]
    new = list(old)
    for _ in range(changes):
        place = chance.randrange(len(new))
        new[place : place + chance.randrange(3)] = [f"{chance.randrange(alphabet)}"] * chance.randrange(3)
    edits = compute_line_edits(old, new)
    assert_well_formed(old, new, edits)
    assert changed(edits) <= 1.2 * fewest_changes(old, new)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([2_000, 20_000, 300_000]))
def test_anchored_and_capped_searches_turn_old_into_new(seed: int, budget: int) -> None:
    chance = random.Random(seed)
    old = [f"line {chance.randrange(3_000)}" for _ in range(3_000)]
    blocks = [old[at : at + 100] for at in range(0, 3_000, 100)]
    chance.shuffle(blocks)
    new = [line if chance.random() < 0.8 else "blank" for block in blocks for line in block]
    edits = compute_line_edits(old, new, budget=budget)
    assert applied(old, new, edits) == new
    assert_well_formed(old, new, edits)


_LINES = [f"line number {index} of a text of about a megabyte\n" for index in range(20_000)]
_TWO = random.Random(1)
_COMB = [line for index in range(60_000) for line in (f"{index}\n", "a\n", "b\n")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(_LINES, ["x" + line for line in _LINES], id="every line"),
        pytest.param(
            _LINES,
            ["x" + line if index % 10 == 0 else line for index, line in enumerate(_LINES)],
            id="every tenth line",
        ),
        pytest.param(["a" * 1_000_000], ["a" * 999_999 + "b"], id="one long line"),
        pytest.param(["\n"] * 1_000_000, ["\n"] * 900_000, id="blank lines"),
        pytest.param(["\n"] * 1_000_000, ["\n" if index % 1_000 else "x" for index in range(1_000_000)], id="marks"),
        pytest.param(_LINES, _LINES[10_000:] + _LINES[:10_000], id="halves swapped"),
        pytest.param(_LINES, _LINES[::-1], id="reversed"),
        pytest.param(_LINES, _TWO.sample(_LINES, len(_LINES)), id="shuffled"),
        pytest.param(_TWO.choices("ab", k=500_000), _TWO.choices("ab", k=500_000), id="two kinds of lines"),
        pytest.param(_TWO.choices("ab", k=20_000), _TWO.choices("ab", k=20_000), id="two kinds, fewer lines"),
        pytest.param(_COMB, _COMB[::-1], id="many gaps"),
        pytest.param(_TWO.choices(_LINES, k=40_000), _TWO.choices(_LINES, k=40_000), id="words at random"),
    ],
)
def test_a_megabyte_is_bounded(old: list[str], new: list[str]) -> None:
    begin = time.process_time()
    edits = compute_line_edits(old, new)
    # A tenth of a second where it was measured; the rest is for slow and busy machines.
    assert time.process_time() - begin < 0.8
    assert applied(old, new, edits) == new


@settings(max_examples=200, deadline=None)
@given(st.text("ab", max_size=60), st.text("ab", max_size=60), st.integers(0, 5), st.integers(0, 5))
@example("aaabaaa", "aaabaab", 0, 0)
@example("aaabaaa", "baabaaa", 0, 0)
def test_common_ends(left: str, right: str, left_start: int, right_start: int) -> None:
    left_start, right_start = min(left_start, len(left)), min(right_start, len(right))
    pairs = list(zip(left[left_start:], right[right_start:], strict=False))[:9]
    front = next((index for index, (one, other) in enumerate(pairs) if one != other), len(pairs))
    assert common_prefix(left, right, old_start=left_start, new_start=right_start, limit=9) == front
    pairs = list(zip(reversed(left), reversed(right), strict=False))[:7]
    back = next((index for index, (one, other) in enumerate(pairs) if one != other), len(pairs))
    assert common_suffix(left, right, limit=7) == back
