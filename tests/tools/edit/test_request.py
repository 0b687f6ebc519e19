"""Edit requests and exact search."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.text_samples import ENCODINGS, text_file
from tejat.tools.edit.request import EditRequest, find_exact
from tejat.workspace.text.encoding import TextEncoding
from tejat.workspace.text.text_edits import TextEdit, TextFile


def edited(file: TextFile, request: EditRequest) -> str:
    return file.encoding.decode(b"".join(file.apply_edits(find_exact(file, request)).pieces))


class TestRequest:
    @pytest.mark.parametrize(("expected", "accepted"), [(1, {1}), (3, {3}), (None, {1, 2, 3})])
    def test_how_many_places_are_right(self, expected: int | None, accepted: set[int]) -> None:
        request = EditRequest("a", "b", expected)
        assert {count for count in range(4) if request.accepts_count(count)} == accepted

    def test_one_place_is_usual(self) -> None:
        assert EditRequest("a", "b") == EditRequest("a", "b", 1)


class TestFinding:
    def test_every_place_from_left_to_right(self) -> None:
        assert find_exact(text_file("a-b-a-"), EditRequest("a-", "x")) == [TextEdit(0, 2, "x"), TextEdit(4, 6, "x")]

    def test_places_do_not_overlap(self) -> None:
        assert find_exact(text_file("aaaaa"), EditRequest("aa", "b")) == [TextEdit(0, 2, "b"), TextEdit(2, 4, "b")]

    def test_nothing_and_what_is_not_there_is_not_found(self) -> None:
        assert find_exact(text_file("abc"), EditRequest("", "x")) == []
        assert find_exact(text_file("abc"), EditRequest("d", "x")) == []
        assert find_exact(text_file("abc"), EditRequest("B", "x")) == []

    def test_any_line_end_stands_for_any_other(self) -> None:
        for ending in ("\n", "\r\n", "\r"):
            file = text_file(f"a{ending}b{ending}")
            for old in ("a\nb", "a\r\nb", "a\rb"):
                assert edited(file, EditRequest(old, "x\ny")) == f"x{ending}y{ending}"

    def test_patterns_are_plain_text(self) -> None:
        assert edited(text_file("price = 5\n"), EditRequest("5", "$1 $& $$ \\1 \\g<0> $`")) == (
            "price = $1 $& $$ \\1 \\g<0> $`\n"
        )
        assert edited(text_file("a.b axb"), EditRequest("a.b", ".*")) == ".* axb"

    @pytest.mark.parametrize("encoding", ENCODINGS)
    def test_places_are_counted_in_bytes(self, encoding: TextEncoding) -> None:
        file = text_file("日本 表 ソ\n日本\n", encoding)
        start = len(encoding.bom)
        width = len(encoding.encode_new("日本"))
        second = start + len(encoding.encode_new("日本 表 ソ\n"))
        assert find_exact(file, EditRequest("日本", "x")) == [
            TextEdit(start, start + width, "x"),
            TextEdit(second, second + width, "x"),
        ]

    @settings(max_examples=300, deadline=None)
    @given(st.text("ab\n", max_size=30), st.text("ab\n", min_size=1, max_size=4), st.text("abc\n", max_size=4))
    def test_the_same_as_replacing_in_the_text(self, text: str, old: str, new: str) -> None:
        file = text_file(text)
        edits = find_exact(file, EditRequest(old, new))
        assert len(edits) == len(re.findall(re.escape(old), text))
        assert b"".join(file.apply_edits(edits).pieces).decode() == text.replace(old, new)
