"""Words are compared in bounded time."""

import time

from tejat.ui.shared.diff.word_marks import WordComparer, split_at_marks


def pairs(old: list[str], new: list[str]) -> list[tuple[int, int, object, object]]:
    return list(WordComparer().pair_lines(old, new))


def test_scripts_without_blanks_are_compared_by_character() -> None:
    assert pairs(["价格是十元整"], ["价格是百元整"]) == [(0, 0, ((3, 4),), ((3, 4),))]


def test_changes_with_little_between_them_are_one() -> None:
    assert pairs(["call(alpha.beta, keep_this)"], ["call(gamma.delta, keep_this)"]) == [
        (0, 0, ((5, 15),), ((5, 16),)),
    ]


def test_blanks_alone_are_a_change() -> None:
    assert pairs(["a = b"], ["a =  b"]) == [(0, 0, ((3, 4),), ((3, 5),))]


def test_huge_blocks_stay_cheap() -> None:
    old = [f"value_{number} = compute(alpha, beta, gamma, {number})" for number in range(20_000)]
    new = [line.replace("alpha", "omega") for line in old]
    start = time.process_time()
    found = pairs(old, new)
    assert 100 < len(found) < len(old)
    assert time.process_time() - start < 5
    assert pairs(["a " * 5000], ["b " * 5000]) == []


def test_runs_are_split_where_marks_begin_and_end() -> None:
    runs = [("abc", 1), ("def", 2)]
    assert list(split_at_marks(runs, ((1, 4),), 6)) == [
        ("a", 1, False),
        ("bc", 1, True),
        ("d", 2, True),
        ("ef", 2, False),
    ]
    assert list(split_at_marks(runs, (), 4)) == [("abc", 1, False), ("d", 2, False)]
