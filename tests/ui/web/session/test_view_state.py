"""A browser gets exactly what changed since it was there."""

import asyncio
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from tejat.ui.web.session.view_state import PageBlock, ViewState


def blocks_of(changes: Mapping[str, object]) -> list[tuple[str, str]]:
    found = changes["blocks"]
    assert isinstance(found, list)
    return [(block["id"], block["html"]) for block in found]


def test_changes_are_those_after_a_number_in_document_order() -> None:
    state = ViewState()
    for name in ("a", "b", "c"):
        state.set_block(name, f"{name}1")
    seen = state.number
    state.set_block("c", "c2")
    state.set_block("a", "a2")
    state.set_value("status", {"x": 1})
    assert blocks_of(state.changes_after(seen)) == [("a", "a2"), ("c", "c2")]
    assert state.changes_after(seen)["values"] == {"status": {"x": 1}}
    assert state.changes_after(state.number) == {"blocks": [], "values": {}, "notices": []}


def test_what_stays_the_same_is_no_change() -> None:
    state = ViewState()
    state.set_block("a", "1")
    state.set_value("status", [1])
    before = state.number
    state.set_block("a", "1")
    state.set_value("status", [1])
    assert state.number == before


def test_positions_of_another_time_are_unknown() -> None:
    state = ViewState()
    state.set_block("a", "1")
    position = state.position
    assert state.parse_position(position) == state.number
    for wrong in ("", "x", f"{state.epoch}-", f"{state.epoch}-99", f"{state.epoch}-1e3", f"{state.epoch}-{'1' * 5000}"):
        assert state.parse_position(wrong) is None
    state.clear()
    assert state.parse_position(position) is None


def test_a_waiting_browser_is_woken_by_a_change_and_by_a_new_beginning() -> None:
    async def main() -> None:
        state = ViewState()
        for change in (lambda: state.set_value("a", 1), state.clear, lambda: state.add_notice({})):
            waiting = [asyncio.create_task(state.wait_for_change(state.number, state.epoch)) for _ in range(3)]
            await asyncio.sleep(0)
            assert not any(task.done() for task in waiting)
            change()
            async with asyncio.timeout(5):
                await asyncio.gather(*waiting)

    asyncio.run(main())


def test_the_latest_blocks_come_with_those_nested_in_them() -> None:
    state = ViewState()
    for number in range(5):
        state.set_block(f"b{number}", "x")
        state.set_block(f"n{number}", "x", f"b{number}")
        state.set_block(f"m{number}", "x", f"n{number}")
    state.set_block("b4", "")
    chosen, earlier = state.latest_blocks(2)
    assert [block.block_id for block in chosen] == ["b2", "n2", "m2", "b3", "n3", "m3"]
    assert earlier == 2
    before, earlier = state.latest_blocks(10, before=chosen[0].place)
    assert [block.block_id for block in before if not block.parent] == ["b0", "b1"]
    assert earlier == 0


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.booleans())))
def test_any_browser_that_reads_now_and_then_ends_with_the_present_blocks(
    steps: list[tuple[int, int, bool]],
) -> None:
    state = ViewState()
    shown: dict[str, str] = {}
    number = 0
    for name, content, reads in [*steps, (0, 0, True)]:
        state.set_block(f"b{name}", str(content) if content else "")
        if reads:
            shown |= dict(blocks_of(state.changes_after(number)))
            number = state.number
    present, _earlier = state.latest_blocks(100)
    assert {name: text for name, text in shown.items() if text} == {block.block_id: block.html for block in present}


def test_a_block_as_the_page_gets_it() -> None:
    assert PageBlock("b1", "<p>", "", 3).to_json() == {"id": "b1", "html": "<p>", "parent": "", "place": 3}
