"""Text in columns: never wider than asked for, wide characters included."""

from hypothesis import given
from hypothesis import strategies as st

from tejat.batch.text.columns import cut_end, cut_middle, one_line, pad_end, pad_start, wrap_rows
from tejat.ui.terminal.render.cells import text_width

TEXTS = st.text(max_size=80).map(one_line) | st.text(alphabet="ab 日本語é", max_size=80).map(one_line)


def test_one_line_is_safe() -> None:
    assert one_line("a\n\tb\x1b[31mred\x1b[0m \u202ec\x07") == "a bred <U+202E>c<U+0007>"
    assert len(one_line("x" * 10_000)) == 2_000


def test_cuts() -> None:
    assert cut_end("abcdef", 4) == "abc…"
    assert cut_end("日本語", 4) == "日…"
    assert cut_middle("django__django-11023", 13) == "djan…go-11023"
    assert cut_middle("abc", 3) == "abc"


def test_padding_counts_columns() -> None:
    assert pad_end("日本", 6) == "日本  "
    assert pad_start("日本", 6) == "  日本"


def test_rows_are_wrapped_at_blanks_and_bounded() -> None:
    text = "The path of a clone, or a URL that git can fetch"
    assert wrap_rows(text, 20, indent="  ") == ["The path of a clone,", "  or a URL that git", "  can fetch"]
    assert wrap_rows(text, 20, indent="  ", max_rows=2) == ["The path of a clone,", "  or a URL that git…"]


@given(TEXTS, st.integers(0, 60))
def test_cut_text_fits(text: str, width: int) -> None:
    assert text_width(cut_end(text, width)) <= width
    assert text_width(cut_middle(text, width)) <= width
    if text_width(text) <= width:
        assert cut_end(text, width) == cut_middle(text, width) == text


@given(TEXTS, st.integers(8, 60), st.integers(0, 4))
def test_wrapped_rows_fit(text: str, width: int, max_rows: int) -> None:
    rows = wrap_rows(text, width, indent="  ", max_rows=max_rows)
    assert all(text_width(row) <= width for row in rows)
    assert not max_rows or len(rows) <= max_rows
    if not max_rows:
        assert "".join("".join(rows).split()) == "".join(text.split())
