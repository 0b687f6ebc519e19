"""How a file ends after an edit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.text_samples import ENCODINGS, text_file
from tejat.tools.edit.final_newline import keep_final_newline, settle_final_newline
from tejat.tools.edit.request import EditRequest, find_exact
from tejat.workspace.text.encoding import TextEncoding
from tejat.workspace.text.text_edits import TextFile


def edited(file: TextFile, request: EditRequest) -> str:
    """The text after an edit that keeps the convention of the file."""
    edits = keep_final_newline(file, find_exact(file, request))
    return file.encoding.decode(b"".join(file.apply_edits(edits).pieces))


class TestAnExactEdit:
    @pytest.mark.parametrize(
        ("text", "old", "new", "expected"),
        [
            ("k\n", "k\n", "m", "m"),
            ("k\n", "\n", "", "k"),
            ("ab\n", "b\n", "", "a"),
            ("k\n", "k\n", "m\n\n", "m\n\n"),
            ("k\n", "k\n", "", ""),
            ("k", "k", "m\n", "m\n"),
            ("a\nk", "a\nk", "a\nk\n", "a\nk\n"),
            ("a\nk\n", "a\nk\n", "a\nk", "a\nk"),
            ("a\r\nk", "k", "m\n", "a\r\nm\r\n"),
            ("a\rk\r", "k\r", "m", "a\rm"),
            ("a\nb\n", "\nb\n", "", "a\n"),
            ("a\nb", "b", "", "a"),
            ("a\nb", "a\nb", "a", "a"),
            ("a\nb\n", "a\nb", "a", "a\n"),
        ],
    )
    @pytest.mark.parametrize("encoding", ENCODINGS)
    def test_it_is_obeyed(self, encoding: TextEncoding, text: str, old: str, new: str, expected: str) -> None:
        file = text_file(text, encoding)
        edits = settle_final_newline(file, find_exact(file, EditRequest(old, new, None)), is_exact=True)
        assert file.encoding.decode(b"".join(file.apply_edits(edits).pieces)) == expected

    def test_without_edits(self) -> None:
        assert settle_final_newline(text_file("a"), [], is_exact=True) == []


class TestACorrectedEdit:
    @pytest.mark.parametrize(
        ("text", "old", "new", "expected"),
        [
            ("k\n", "k", "", "\n"),
            ("k\n", "k\n", "", ""),
            ("k", "k", "", ""),
            ("k\n", "k\n", "m", "m\n"),
            ("k\n", "k\n", "m\n\n", "m\n\n"),
            ("k", "k", "m\n", "m"),
            ("k", "k", "m\n\n", "m\n"),
            ("a\nb", "b", "", "a"),
            ("a\nb\n", "b\n", "", "a\n"),
            ("a\nb\n", "\nb\n", "", "a\n"),
            ("a\r\nb", "b", "", "a"),
            ("a\r\nb\r\n", "b\r\n", "c", "a\r\nc\r\n"),
            ("a\r\nb", "b", "c\r\n", "a\r\nc"),
            ("a\rb\r", "b\r", "c", "a\rc\r"),
            ("a\nb\n", "a", "x", "x\nb\n"),
            ("ax\nx\n", "x\n", "", "a\n"),
            ("x\nx\n", "x\n", "", ""),
            ("a\nxx", "x", "", "a"),
            ("a\nxx", "x", "y", "a\nyy"),
            ("\nx", "x", "", ""),
        ],
    )
    @pytest.mark.parametrize("encoding", ENCODINGS)
    def test_a_line_end_is_there_if_and_only_if_it_was(
        self, encoding: TextEncoding, text: str, old: str, new: str, expected: str
    ) -> None:
        assert edited(text_file(text, encoding), EditRequest(old, new, None)) == expected

    def test_no_edits_change_nothing(self) -> None:
        assert keep_final_newline(text_file("a"), []) == []

    @settings(max_examples=500, deadline=None)
    @given(st.text("ab\n", max_size=20), st.text("ab\n", min_size=1, max_size=3), st.text("ac\n", max_size=3))
    def test_it_is_the_plain_result_with_the_end_mended(self, text: str, old: str, new: str) -> None:
        plain = text.replace(old, new)
        result = edited(text_file(text), EditRequest(old, new, None))
        if old not in text or not plain or plain.endswith("\n") == text.endswith("\n"):
            assert result == plain
        elif text.endswith("\n"):
            assert result == plain + "\n"
        else:
            assert result == plain[:-1]
