"""Finding what an edit means, and how a file ends afterwards (E4, E7, E8, E26, E27, E28)."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.tools.edit import stages
from tejat.tools.edit.stages import EditRequest, exact, find_edits, keeping_final_newline
from tejat.workspace.encoding import UTF_8, TextEncoding
from tejat.workspace.splice import TextEdit, TextFile

ENCODINGS = [
    UTF_8,
    TextEncoding("utf-8", b"\xef\xbb\xbf"),
    TextEncoding("utf-16-le", b"\xff\xfe"),
    TextEncoding("utf-16-be", b""),
    TextEncoding("utf-32-be", b"\0\0\xfe\xff"),
    TextEncoding("cp932", b""),
    TextEncoding("gb18030", b""),
]


def file_of(text: str, encoding: TextEncoding = UTF_8) -> TextFile:
    return TextFile(encoding.bom + encoding.encode_new(text), encoding)


def edited(file: TextFile, request: EditRequest) -> str:
    edits = keeping_final_newline(file, find_edits(file, request))
    return file.encoding.decode(b"".join(file.splice(edits).pieces))


class TestRequest:
    @pytest.mark.parametrize(("expected", "accepted"), [(1, {1}), (3, {3}), (None, {1, 2, 3})])
    def test_how_many_places_are_right(self, expected: int | None, accepted: set[int]) -> None:
        request = EditRequest("a", "b", expected)
        assert {count for count in range(4) if request.accepts(count)} == accepted

    def test_one_place_is_usual(self) -> None:
        assert EditRequest("a", "b") == EditRequest("a", "b", 1)


class TestFinding:
    def test_every_place_from_left_to_right(self) -> None:
        assert exact(file_of("a-b-a-"), EditRequest("a-", "x")) == [TextEdit(0, 2, "x"), TextEdit(4, 6, "x")]

    def test_e27_places_do_not_overlap(self) -> None:
        assert exact(file_of("aaaaa"), EditRequest("aa", "b")) == [TextEdit(0, 2, "b"), TextEdit(2, 4, "b")]

    def test_nothing_and_what_is_not_there_is_not_found(self) -> None:
        assert find_edits(file_of("abc"), EditRequest("", "x")) == []
        assert find_edits(file_of("abc"), EditRequest("d", "x")) == []
        assert find_edits(file_of("abc"), EditRequest("B", "x")) == []

    def test_e7_any_line_end_stands_for_any_other(self) -> None:
        for ending in ("\n", "\r\n", "\r"):
            file = file_of(f"a{ending}b{ending}")
            for old in ("a\nb", "a\r\nb", "a\rb"):
                assert edited(file, EditRequest(old, "x\ny")) == f"x{ending}y{ending}"

    def test_e6_patterns_are_plain_text(self) -> None:
        assert edited(file_of("price = 5\n"), EditRequest("5", "$1 $& $$ \\1 \\g<0> $`")) == (
            "price = $1 $& $$ \\1 \\g<0> $`\n"
        )
        assert edited(file_of("a.b axb"), EditRequest("a.b", ".*")) == ".* axb"

    def test_the_first_stage_that_finds_anything_decides(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found = [TextEdit(0, 1, "x")]
        monkeypatch.setattr(stages, "STAGES", (exact, lambda *_: found, lambda *_: [TextEdit(1, 2, "y")]))
        assert find_edits(file_of("abc"), EditRequest("d", "e")) is found
        assert find_edits(file_of("abc"), EditRequest("b", "e")) == [TextEdit(1, 2, "e")]

    @pytest.mark.parametrize("encoding", ENCODINGS)
    def test_e28_places_are_counted_in_bytes(self, encoding: TextEncoding) -> None:
        file = file_of("日本 表 ソ\n日本\n", encoding)
        start = len(encoding.bom)
        width = len(encoding.encode_new("日本"))
        second = start + len(encoding.encode_new("日本 表 ソ\n"))
        assert find_edits(file, EditRequest("日本", "x")) == [
            TextEdit(start, start + width, "x"),
            TextEdit(second, second + width, "x"),
        ]

    @settings(max_examples=300, deadline=None)
    @given(st.text("ab\n", max_size=30), st.text("ab\n", min_size=1, max_size=4), st.text("abc\n", max_size=4))
    def test_the_same_as_replacing_in_the_text(self, text: str, old: str, new: str) -> None:
        file = file_of(text)
        edits = find_edits(file, EditRequest(old, new))
        assert len(edits) == len(re.findall(re.escape(old), text))
        assert b"".join(file.splice(edits).pieces).decode() == text.replace(old, new)


class TestTheEnd:
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
    def test_e8_e26_a_line_end_is_there_if_and_only_if_it_was(
        self, encoding: TextEncoding, text: str, old: str, new: str, expected: str
    ) -> None:
        assert edited(file_of(text, encoding), EditRequest(old, new, None)) == expected

    def test_no_edits_change_nothing(self) -> None:
        assert keeping_final_newline(file_of("a"), []) == []

    @settings(max_examples=500, deadline=None)
    @given(st.text("ab\n", max_size=20), st.text("ab\n", min_size=1, max_size=3), st.text("ac\n", max_size=3))
    def test_it_is_the_plain_result_with_the_end_mended(self, text: str, old: str, new: str) -> None:
        plain = text.replace(old, new)
        result = edited(file_of(text), EditRequest(old, new, None))
        if old not in text or not plain or plain.endswith("\n") == text.endswith("\n"):
            assert result == plain
        elif text.endswith("\n"):
            assert result == plain + "\n"
        else:
            assert result == plain[:-1]
