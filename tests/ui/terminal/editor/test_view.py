"""Text in rows: nothing wider than the terminal, nothing hidden, the caret where the next letter goes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.ui.terminal.editor.view import EditorContent, break_rows, caret_position, offset_at_column, render_editor
from tejat.ui.terminal.render.cells import row_width
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, Theme

LOOK = Theme()


def drawn(text: str, caret: int | None = None, *, width: int = 20, height: int = 10, **more: object) -> list[str]:
    """The rows, with a bar before the cell at the caret."""
    content = EditorContent(text, len(text) if caret is None else caret, **more)  # type: ignore[arg-type]
    frame = render_editor(content, theme=LOOK, width=width, height=height).frame
    assert frame.caret is not None
    rows: list[str] = []
    for y, row in enumerate(frame.rows):
        x, shown = 0, ""
        for cell in [*row, *[None] * (width - row_width(row) + 1)]:
            if (x, y) == frame.caret:
                shown += "|"
            shown += " " if cell is None else cell.text
            x += 1 if cell is None else cell.width
        rows.append(shown.rstrip())
    return rows


@pytest.mark.parametrize(
    ("text", "caret", "rows"),
    [
        ("", 0, ["> |"]),
        ("hello", 5, ["> hello|"]),
        ("hello", 0, ["> |hello"]),
        ("one\n\ntwo", 4, ["> one", "  |", "  two"]),
        ("x" * 18, 18, ["> " + "x" * 18, "  |"]),
        ("x" * 18, 17, ["> " + "x" * 17 + "|x"]),
        ("x" * 18 + "\ny", 20, ["> " + "x" * 18, "  y|"]),
        ("日本語日本語日本語", 9, ["> 日本語日本語日本語", "  |"]),
        ("a日本語日本語日本語", 9, ["> a日本語日本語日本", "  |語"]),
        ("👩‍👩‍👧👩‍👩‍👧", 5, ["> 👩‍👩‍👧|👩‍👩‍👧"]),
        ("❤️‍🔥1️⃣🇩🇪", 0, ["> |❤️‍🔥1️⃣🇩🇪"]),
        ("e\u0301x", 2, ["> e\u0301|x"]),
        ("\u0301", 1, [">  \u0301|"]),
        ("a\tb\n\tc", 6, ["> a   b", "      c|"]),
        ("pay\u200bpal", 4, ["> pay<U+200B>|pal"]),
        ("z\u200d\u202etxt", 2, ["> z<U+200D>|<U+202E>t", "  xt"]),
        ("\x1b[31m", 1, ["> <U+001B>|[31m"]),
        ("می\u200cخواهم", 3, ["> می\u200c|خواهم"]),
    ],
)
def test_rows(text: str, caret: int, rows: list[str]) -> None:
    assert drawn(text, caret) == rows


def test_the_shell_is_told_by_a_sign_and_a_word() -> None:
    assert drawn("ls", is_shell=True) == ["! (shell) ls|"]
    assert drawn("x" * 12, is_shell=True) == ["! (shell) " + "x" * 10, "  xx|"]


def test_a_placeholder_stands_behind_the_caret_and_is_cut() -> None:
    assert drawn("", placeholder="Ask anything") == ["> |Ask anything"]
    assert drawn("", placeholder="Ask anything at all") == ["> |Ask anything at …"]


def test_a_narrow_terminal_has_room_for_the_text_only() -> None:
    assert drawn("abcdefgh", width=5) == ["abcde", "fgh|"]
    assert drawn("日本", width=2) == ["日", "本", "|"]


def test_a_long_text_scrolls_no_more_than_it_must() -> None:
    text = "\n".join("abcdef")
    assert drawn(text, height=3) == ["… d", "  e", "  f|"]
    content = EditorContent(text, 6)
    seen = render_editor(content, theme=LOOK, width=20, height=3, top=3)
    assert (seen.top, seen.frame.caret) == (3, (2, 0))
    assert drawn(text, 4, height=3) == ["> a", "  b", "… |c"]
    seen = render_editor(EditorContent(text, 2), theme=LOOK, width=20, height=3, top=3)
    assert (seen.top, seen.frame.caret) == (1, (2, 0))
    assert drawn(text, 6, height=1) == ["… |d"]


def test_signs_are_plain_where_the_terminal_has_no_others() -> None:
    frame = render_editor(EditorContent("a\nb\nc", 5), theme=Theme(glyphs=ASCII_GLYPHS), width=20, height=2).frame
    assert ["".join(cell.text for cell in row) for row in frame.rows] == ["~ b", "  c"]


TEXTS = st.text(st.sampled_from("ab \t\n日ü👩👧\u200d\ufe0f\u0301\u200b\x1b🇩🇪\U0010f000क्ष"), max_size=60)


@given(TEXTS, st.integers(0, 60), st.integers(1, 30), st.integers(1, 6))
def test_whatever_is_typed_fits_and_has_its_caret(text: str, caret: int, width: int, height: int) -> None:
    content = EditorContent(
        text, min(caret, len(text)), label=lambda each: "[Pasted]" if each == "\U0010f000" else None
    )
    frame = render_editor(content, theme=LOOK, width=width, height=height).frame
    assert 1 <= len(frame.rows) <= height
    assert all(row_width(row) <= max(width, 2) for row in frame.rows)
    assert all(cell.width > 0 for row in frame.rows for cell in row)
    assert frame.caret is not None
    assert 0 <= frame.caret[0] < max(width, 2)
    assert 0 <= frame.caret[1] < len(frame.rows)


@given(TEXTS, st.integers(2, 30))
def test_a_place_is_found_again_where_it_is_shown(text: str, width: int) -> None:
    content = EditorContent(text, len(text))
    rows = break_rows(content, theme=LOOK, width=width)
    for row in rows:
        for place, _ in row.stops:
            at, column = caret_position(rows, place)
            assert offset_at_column(rows[at], column) == place
