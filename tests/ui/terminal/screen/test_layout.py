"""Who gets how many rows."""

from hypothesis import given
from hypothesis import strategies as st

from tejat.ui.terminal.render.cells import CellRow, Frame, split_cells
from tejat.ui.terminal.screen.layout import Footer, compose_frame, max_body_height


def rows(name: str, count: int) -> list[CellRow]:
    return [split_cells(f"{name} {number}") for number in range(count)]


def text_of(frame: Frame) -> list[str]:
    return ["".join(cell.text for cell in row) for row in frame.rows]


def above(count: int) -> CellRow:
    return split_cells(f"{count} above")


def composed(
    height: int, *, live: int = 0, queued: int = 0, body: int = 1, caret: int = 0, hint: bool = False
) -> Frame:
    foot = Footer.fit(height, hints=[split_cells("hint")] if hint else [], status=split_cells("status"))
    return compose_frame(
        height,
        live=rows("live", live),
        queued=rows("queued", queued),
        body=Frame(tuple(rows("body", body)), (3, caret)),
        footer=foot,
        hidden_rows_label=above,
    )


def test_everything_from_top_to_bottom() -> None:
    frame = composed(20, live=2, queued=1, body=2, caret=1, hint=True)
    assert text_of(frame) == ["live 0", "live 1", "", "queued 0", "body 0", "body 1", "hint", "status"]
    assert frame.caret == (3, 5)


def test_the_end_of_what_goes_on_is_shown_and_the_rest_counted() -> None:
    assert text_of(composed(6, live=9, queued=1)) == ["7 above", "live 7", "live 8", "queued 0", "body 0", "status"]


def test_with_little_room_the_editor_comes_first_and_a_hint_before_the_status() -> None:
    assert text_of(composed(1, live=5, queued=5, hint=True)) == ["body 0"]
    assert text_of(composed(2, live=5, queued=5, hint=True)) == ["body 0", "hint"]
    assert text_of(composed(3, live=5, queued=5, hint=True)) == ["live 4", "body 0", "hint"]
    assert text_of(composed(3, live=0, queued=5)) == ["queued 0", "body 0", "status"]


def test_an_editor_that_is_too_tall_is_cut_around_the_caret() -> None:
    assert text_of(composed(3, body=9, caret=8)) == ["body 7", "body 8", "status"]
    assert text_of(composed(3, body=9, caret=0)) == ["body 0", "body 1", "status"]
    assert composed(3, body=9, caret=8).caret == (3, 1)


def test_where_there_is_room_some_is_kept_from_the_editor() -> None:
    foot = Footer.fit(24, hints=(), status=split_cells("status"))
    assert [max_body_height(24, foot, above) for above in (0, 2, 50)] == [23, 21, 19]
    assert max_body_height(8, foot, 50) == 7


@given(
    height=st.integers(0, 30),
    live=st.integers(0, 50),
    queued=st.integers(0, 6),
    body=st.integers(1, 40),
    hint=st.booleans(),
    data=st.data(),
)
def test_it_always_fits_and_the_caret_is_always_in_it(
    height: int, live: int, queued: int, body: int, hint: bool, data: st.DataObject
) -> None:
    caret = data.draw(st.integers(0, body - 1))
    frame = composed(height, live=live, queued=queued, body=body, caret=caret, hint=hint)
    assert len(frame.rows) <= max(height, 1)
    assert frame.caret is not None
    assert text_of(frame)[frame.caret[1]] == f"body {caret}"
