"""Of very many items the first ones are kept, and all of them are counted."""

from hypothesis import given
from hypothesis import strategies as st

from tejat.tools.files.selection import FirstItems, fitting_lines

names = st.text("abc", max_size=3)


@given(st.lists(st.lists(names)), st.integers(1, 6))
def test_the_first_ones_in_order(batches: list[list[str]], limit: int) -> None:
    first = FirstItems[str](limit)
    for batch in batches:
        first.add(batch)
    everything = sorted(name for batch in batches for name in batch)
    assert (first.sorted(), first.count) == (everything[:limit], len(everything))


@given(st.lists(st.lists(names)), st.integers(1, 6))
def test_equal_ones_count_once(batches: list[list[str]], limit: int) -> None:
    first = FirstItems[str](limit, is_distinct=True)
    for batch in batches:
        first.add(batch)
    everything = sorted({name for batch in batches for name in batch})
    assert (first.sorted(), first.count) == (everything[:limit], len(everything))


def test_few_are_kept_of_many() -> None:
    first = FirstItems[tuple[float, str]](10)
    for number in range(10_000):
        first.add([(-float(number), "x")])
        assert len(first._kept) <= 20
    assert first.sorted()[0] == (-9999.0, "x")


@given(st.lists(names), st.integers(0, 12))
def test_lines_that_fit(lines: list[str], room: int) -> None:
    count = fitting_lines(lines, room)
    size = sum(len(line) + 1 for line in lines[:count])
    assert size <= room or count == 1
    assert count == len(lines) or size + len(lines[count]) + 1 > room
    assert count or not lines
