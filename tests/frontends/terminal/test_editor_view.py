"""Text in rows: nothing wider than the terminal, nothing hidden, the caret where the next letter goes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.frontends.terminal.cells import columns
from tejat.frontends.terminal.editor_view import Content, broken, caret_of, place_near, view
from tejat.frontends.terminal.look import ASCII, Look

LOOK = Look()


def drawn(text: str, caret: int | None = None, *, width: int = 20, height: int = 10, **more: object) -> list[str]:
    """The rows, with a bar before the cell at the caret."""
    content = Content(text, len(text) if caret is None else caret, **more)  # type: ignore[arg-type]
    picture = view(content, look=LOOK, width=width, height=height).picture
    assert picture.caret is not None
    rows: list[str] = []
    for y, row in enumerate(picture.rows):
        x, shown = 0, ""
        for cell in [*row, *[None] * (width - columns(row) + 1)]:
            if (x, y) == picture.caret:
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
    content = Content(text, 6)
    seen = view(content, look=LOOK, width=20, height=3, top=3)
    assert (seen.top, seen.picture.caret) == (3, (2, 0))
    assert drawn(text, 4, height=3) == ["> a", "  b", "… |c"]
    seen = view(Content(text, 2), look=LOOK, width=20, height=3, top=3)
    assert (seen.top, seen.picture.caret) == (1, (2, 0))
    assert drawn(text, 6, height=1) == ["… |d"]


def test_signs_are_plain_where_the_terminal_has_no_others() -> None:
    picture = view(Content("a\nb\nc", 5), look=Look(glyphs=ASCII), width=20, height=2).picture
    assert ["".join(cell.text for cell in row) for row in picture.rows] == ["~ b", "  c"]


TEXTS = st.text(st.sampled_from("ab \t\n日ü👩👧\u200d\ufe0f\u0301\u200b\x1b🇩🇪\U0010f000क्ष"), max_size=60)


@given(TEXTS, st.integers(0, 60), st.integers(1, 30), st.integers(1, 6))
def test_whatever_is_typed_fits_and_has_its_caret(text: str, caret: int, width: int, height: int) -> None:
    content = Content(text, min(caret, len(text)), label=lambda each: "[Pasted]" if each == "\U0010f000" else None)
    picture = view(content, look=LOOK, width=width, height=height).picture
    assert 1 <= len(picture.rows) <= height
    assert all(columns(row) <= max(width, 2) for row in picture.rows)
    assert all(cell.width > 0 for row in picture.rows for cell in row)
    assert picture.caret is not None
    assert 0 <= picture.caret[0] < max(width, 2)
    assert 0 <= picture.caret[1] < len(picture.rows)


@given(TEXTS, st.integers(2, 30))
def test_a_place_is_found_again_where_it_is_shown(text: str, width: int) -> None:
    content = Content(text, len(text))
    rows = broken(content, look=LOOK, width=width)
    for row in rows:
        for place, _ in row.stops:
            at, column = caret_of(rows, place)
            assert place_near(rows[at], column) == place
