import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.errors import ErrorType, UsageError
from tejat.workspace.text.diff import create_patch_from_edits
from tejat.workspace.text.encoding import UTF_8, TextEncoding, UnencodableCharacter
from tejat.workspace.text.text_edits import ByteEdit, ByteRange, EditedContent, TextEdit, TextFile, count_byte

CODECS = [
    TextEncoding("utf-8", b""),
    TextEncoding("utf-8", b"\xef\xbb\xbf"),
    TextEncoding("utf-16-le", b"\xff\xfe"),
    TextEncoding("utf-16-be", b"\xfe\xff"),
    TextEncoding("utf-16-le", b""),
    TextEncoding("utf-32-le", b"\xff\xfe\x00\x00"),
    TextEncoding("utf-32-be", b""),
    TextEncoding("gb18030", b"\x84\x31\x95\x33"),
    *(
        TextEncoding(codec, b"")
        for codec in ("cp1252", "cp1251", "koi8_r", "cp932", "euc_jp", "gbk", "gb18030", "cp950", "cp949", "euc_kr")
    ),
]
# For each codec letters that its bytes make trouble with: the second byte of 表 in Shift-JIS is a backslash.
LETTERS = {
    "utf-8": "éaж😀",
    "utf-16-le": "aĊ਀😀",
    "utf-16-be": "aĊ਀😀",
    "utf-32-le": "aĊ਀😀",
    "utf-32-be": "aĊ਀😀",
    "cp1252": "aéü",
    "cp1251": "aжя",
    "koi8_r": "aжя",
    "cp932": "a\\表ア能",
    "euc_jp": "aあい表",
    "gbk": "a\\猏猑琝中",
    "gb18030": "a\\猏猑0é",
    "cp950": "a\\功許中",
    "cp949": "a갂가나",
    "euc_kr": "a가나",
}
ENDINGS = ("\n", "\r\n", "\r")
# Not LF beside CR: where an edit puts the one behind the other, they read as a CRLF.
ENDINGS_OF_FILES = [("\n",), ("\r\n",), ("\r",), ("\n", "\r\n"), ()]
encodings = st.sampled_from(CODECS)


def file_of(text: str | bytes, encoding: TextEncoding = UTF_8) -> TextFile:
    body = text if isinstance(text, bytes) else text.encode(encoding.codec)
    return TextFile(encoding.bom + body, encoding)


def joined(spliced: EditedContent) -> bytes:
    content = b"".join(spliced.pieces)
    assert spliced.size == len(content)
    return content


def replaced(text: str | bytes, old: str, new: str) -> bytes:
    """Every place where `old` stands, replaced by `new`."""
    file = file_of(text)
    return joined(file.apply_edits([TextEdit(found.start, found.end, new) for found in file.find_all(old)]))


def rewritten(text: str | bytes, content: str) -> bytes:
    return joined(file_of(text).replace_content(content))


def plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def kinds_of(text: str) -> set[str]:
    return set(re.findall(r"\r\n|\n|\r", text))


def applied(old: bytes, edits: Sequence[ByteEdit]) -> bytes:
    result, at = b"", 0
    for edit in edits:
        result += old[at : edit.start] + edit.new
        at = edit.end
    return result + old[at:]


def letters_of(encoding: TextEncoding) -> str:
    return LETTERS[encoding.codec]


def drawn_text(
    data: st.DataObject, encoding: TextEncoding, endings: tuple[str, ...] = ENDINGS, *, most: int = 30
) -> str:
    pieces = [*letters_of(encoding), *endings]
    return "".join(data.draw(st.lists(st.sampled_from(pieces), max_size=most)))


def places_of(text: str, needle: str) -> list[tuple[int, int]]:
    """The plain way to search: characters one by one, a line end of any kind taken as one."""
    units = re.findall(r"\r\n|[\s\S]", text)
    wanted = [plain(unit) for unit in re.findall(r"\r\n|[\s\S]", needle)]
    starts = [0]
    for unit in units:
        starts.append(starts[-1] + len(unit))
    found: list[tuple[int, int]] = []
    index = 0
    while wanted and index + len(wanted) <= len(units):
        if [plain(unit) for unit in units[index : index + len(wanted)]] == wanted:
            found.append((starts[index], starts[index + len(wanted)]))
            index += len(wanted)
        else:
            index += 1
    return found


class TestLineEnding:
    @pytest.mark.parametrize(
        ("text", "ending"),
        [
            ("", None),
            ("abc", None),
            ("a\n", "\n"),
            ("a\r\nb", "\r\n"),
            ("a\rb", "\r"),
            ("a\r\nb\nc\n", "\n"),
            ("a\r\nb\r\nc\n", "\r\n"),
            ("a\rb\rc\n", "\r"),
            ("a\r\r\n\r", "\r"),
            ("a\nb\r\n", "\r\n"),
        ],
    )
    @pytest.mark.parametrize("codec", ["utf-8", "utf-16-le", "utf-32-be", "cp932"])
    def test_is_that_of_most_lines(self, text: str, ending: str | None, codec: str) -> None:
        assert file_of(text, TextEncoding(codec, b"")).line_ending == ending

    def test_half_characters_are_no_line_ends(self) -> None:
        assert file_of("Ċ਀ഀ", TextEncoding("utf-16-le", b"")).line_ending is None

    def test_of_a_large_file(self) -> None:
        file = file_of(b"line\r\n" * 200_000 + b"line\n" * 199_999)
        assert file.line_ending == "\r\n"
        assert file_of(b"line\r\n" * 200_000 + b"line\n" * 200_001).line_ending == "\n"


class TestFindAll:
    def test_places_are_bytes_and_the_mark_counts(self) -> None:
        file = file_of("é=1\né=2\n", TextEncoding("utf-8", b"\xef\xbb\xbf"))
        assert file.text == "é=1\né=2\n"
        assert file.find_all("é") == [ByteRange(3, 5), ByteRange(8, 10)]
        assert file.find_all("\ufeff") == []

    def test_without_overlaps(self) -> None:
        assert file_of("aaaaa").find_all("aa") == [ByteRange(0, 2), ByteRange(2, 4)]

    def test_nothing_matches_an_empty_needle(self) -> None:
        assert file_of("abc").find_all("") == []
        assert file_of("").find_all("") == []

    def test_line_ends_of_any_kind_match(self) -> None:
        for needle in ("a\nb", "a\r\nb", "a\rb"):
            assert file_of("a\nb").find_all(needle) == [ByteRange(0, 3)]
            assert file_of("a\r\nb").find_all(needle) == [ByteRange(0, 4)]
            assert file_of("a\rb").find_all(needle) == [ByteRange(0, 3)]
            assert file_of("a\nb a\r\nb a\rb").find_all(needle) == [ByteRange(0, 3), ByteRange(4, 8), ByteRange(9, 12)]
            assert file_of("ab").find_all(needle) == []

    def test_half_a_line_end_is_none(self) -> None:
        assert file_of("a\r\nb\nc").find_all("\n\nb") == []
        assert file_of("a\r\nb\nc").find_all("\nb") == [ByteRange(1, 4)]
        assert file_of("a\r\n\n").find_all("\n") == [ByteRange(1, 3), ByteRange(3, 4)]

    def test_no_match_inside_a_character(self) -> None:
        # The second byte of the first is a backslash; the second of the other is "a".
        assert file_of("表\\", TextEncoding("cp932", b"")).find_all("\\") == [ByteRange(2, 3)]
        assert file_of("乤a", TextEncoding("gbk", b"")).find_all("a") == [ByteRange(2, 3)]
        # The bytes of both characters hold those of the needle, half a character off.
        assert file_of("\u4100\u0042A", TextEncoding("utf-16-le", b"")).find_all("A") == [ByteRange(4, 6)]
        assert file_of("é").find_all("\udca9") == []

    def test_what_the_encoding_lacks_is_not_there(self) -> None:
        assert file_of("abc", TextEncoding("cp1252", b"")).find_all("ж") == []
        assert file_of("abc\r\na\n", TextEncoding("cp1252", b"")).find_all("ж\n") == []

    def test_bytes_that_are_no_characters_are_found_as_decoded(self) -> None:
        file = file_of(b"a\xff\xe9b \xff")
        assert file.text == "a\udcff\udce9b \udcff"
        assert file.find_all("\udcff\udce9b") == [ByteRange(1, 4)]
        assert file.find_all("b \udcff") == [ByteRange(3, 6)]

    def test_characters_that_cp932_holds_twice(self) -> None:
        # NEC's and IBM's codes for one character.
        file = file_of(b"\xed\x40 \xfa\x5c", TextEncoding("cp932", b""))
        assert file.find_all(file.text[0]) == [ByteRange(0, 2), ByteRange(3, 5)]

    @settings(max_examples=250, deadline=None)
    @given(st.data(), encodings)
    def test_agrees_with_the_plain_way(self, data: st.DataObject, encoding: TextEncoding) -> None:
        text = drawn_text(data, encoding)
        needle = drawn_text(data, encoding, most=3)
        file = file_of(text, encoding)
        expected = [
            ByteRange(*(len(encoding.bom) + len(text[:place].encode(encoding.codec)) for place in pair))
            for pair in places_of(text, needle)
        ]
        assert file.find_all(needle) == expected


class TestSplice:
    def test_dollars_and_backslashes_are_literal(self) -> None:
        for new in ("$", "$&", "$'", "$`", "$1", "$$", "x$", r"\1", r"\g<0>", r"\n", "\\"):
            assert replaced("a b a\n", "a", new) == f"{new} b {new}\n".encode()
            assert replaced("a\r\nb\na\r\nb\n", "a\nb", new) == f"{new}\n{new}\n".encode()

    def test_pieces_are_views_of_the_file(self) -> None:
        raw = b"a" * 1_000 + b"b" + b"a" * 1_000
        file = file_of(raw)
        spliced = file.apply_edits([TextEdit(1_000, 1_001, "new")])
        assert spliced.edits == [ByteEdit(1_000, 1_001, b"new")]
        assert [type(piece) for piece in spliced.pieces] == [memoryview, bytes, memoryview]
        assert joined(spliced) == b"a" * 1_000 + b"new" + b"a" * 1_000

    def test_no_change_has_no_edits(self) -> None:
        assert file_of("a\nb").apply_edits([TextEdit(0, 1, "a")]).edits == []
        assert file_of("a\nb\r\n").apply_edits([TextEdit(0, 5, "a\nb\n")]).edits == []
        assert joined(file_of("a\nb").apply_edits([])) == b"a\nb"

    def test_line_ends_become_those_of_the_file(self) -> None:
        for given_end in ("\n", "\r\n"):
            new = f"x{given_end}y"
            assert replaced("a\nb\n", "a", new) == b"x\ny\nb\n"
            assert replaced("a\r\nb\r\n", "a", new) == b"x\r\ny\r\nb\r\n"
            assert replaced("a\rb\r", "a", new) == b"x\ry\rb\r"
            assert replaced("a b", "a", new) == f"x{given_end}y b".encode()

    def test_a_lone_cr_stays_unless_lines_end_so(self) -> None:
        assert replaced("a\nb\n", "a", "x\ry") == b"x\ry\nb\n"
        assert replaced("a\r\nb\r\n", "a", "x\ry\nz") == b"x\ry\r\nz\r\nb\r\n"
        assert replaced("a\rb\r", "a", "x\ry\nz") == b"x\ry\rz\rb\r"
        assert replaced("a\nb\rc\n", "a", "x\ry") == b"x\ry\nb\rc\n"
        assert replaced("a\nb\n10%\r20%\n", "20%", "20%\n30%") == b"a\nb\n10%\r20%\n30%\n"
        assert replaced("a\nb\n10%\r20%\r\n", "10%", "5%\n10%") == b"a\nb\n5%\r\n10%\r20%\r\n"

    def test_unchanged_lines_of_a_match_keep_their_endings(self) -> None:
        mixed = "a\r\nb\nc\rd\n"
        assert replaced(mixed, "a\nb\nc\nd\n", "a\nB\nc\nd\n") == b"a\r\nB\nc\rd\n"
        assert replaced(mixed, "a\nb\nc\nd\n", "a\nb\nnew\nc\nd\n") == b"a\r\nb\nnew\nc\rd\n"
        assert replaced(mixed, "a\nb\nc\nd\n", "A\nb\nC\nd\n") == b"A\r\nb\nC\rd\n"
        assert replaced(mixed, "a\nb\nc\nd\n", "a\nd\n") == b"a\r\nd\n"

    def test_new_lines_take_the_ending_next_to_them(self) -> None:
        # The match's own, the line's that it stands in, the line's before, in this order.
        assert replaced("a\r\nb\nc\n", "a\n", "a1\na2\n") == b"a1\r\na2\r\nb\nc\n"
        assert replaced("a\r\nb\nc\n", "a\nb\n", "A\nB\nnew\n") == b"A\r\nB\nnew\nc\n"
        assert replaced("a\nb\nc\r\nd\n", "c", "c1\nc2") == b"a\nb\nc1\r\nc2\r\nd\n"
        assert replaced("a\nb\nc\r\nd", "d", "d1\nd2") == b"a\nb\nc\r\nd1\r\nd2"
        assert replaced("a\r\nb\r\nc\nd", "d", "d1\nd2\n") == b"a\r\nb\r\nc\nd1\nd2\n"

    def test_mixed_endings_in_wide_encodings(self) -> None:
        for encoding in CODECS[2:7]:
            file = file_of("a\nb\nc\r\nd\n", encoding)
            [found] = file.find_all("c")
            expected = encoding.bom + "a\nb\nc1\r\nc2\r\nd\n".encode(encoding.codec)
            assert joined(file.apply_edits([TextEdit(found.start, found.end, "c1\nc2")])) == expected

    def test_half_characters_are_no_neighbouring_line_ends(self) -> None:
        encoding = TextEncoding("utf-16-le", b"")
        # Two characters whose inner bytes are those of LF stand before the edit, and then behind it.
        for text, expected in (
            ("a\nb\nc\r\n\u0a41\u0100d", "a\nb\nc\r\n\u0a41\u0100d1\r\nd2"),
            ("a\nb\nd\u0a41\u0100\r\n", "a\nb\nd1\r\nd2\u0a41\u0100\r\n"),
        ):
            file = file_of(text, encoding)
            [found] = file.find_all("d")
            assert joined(file.apply_edits([TextEdit(found.start, found.end, "d1\nd2")])) == expected.encode(
                "utf-16-le"
            )

    def test_deleting_keeps_the_line_ends_around(self) -> None:
        assert replaced("a\nb\nc\n", "b", "") == b"a\n\nc\n"
        assert replaced("a\r\nb\r\nc", "b\n", "") == b"a\r\nc"
        assert replaced("a\nb", "\nb", "") == b"a"

    def test_the_mark_is_never_part_of_an_edit(self) -> None:
        file = file_of("a\n", TextEncoding("utf-8", b"\xef\xbb\xbf"))
        assert joined(file.apply_edits([TextEdit(0, 4, "x")])) == b"\xef\xbb\xbfx\n"
        assert joined(file.apply_edits([TextEdit(0, 0, "x\n"), TextEdit(1, 4, "b")])) == b"\xef\xbb\xbfx\nb\n"
        assert joined(file.apply_edits([TextEdit(3, 3, "x\n")])) == b"\xef\xbb\xbfx\na\n"

    def test_a_mark_in_the_middle_is_a_character(self) -> None:
        encoding = TextEncoding("utf-8", b"\xef\xbb\xbf")
        file = file_of("a\r\n\ufeffb\n", encoding)
        [found] = file.find_all("\ufeffb")
        assert (
            joined(file.apply_edits([TextEdit(found.start, found.end, "\ufeffc")]))
            == b"\xef\xbb\xbfa\r\n\xef\xbb\xbfc\n"
        )
        assert joined(file.apply_edits([TextEdit(found.start, found.end, "b")])) == b"\xef\xbb\xbfa\r\nb\n"

    @pytest.mark.parametrize(
        "edits",
        [
            [TextEdit(2, 3, "x"), TextEdit(0, 1, "y")],
            [TextEdit(0, 2, "x"), TextEdit(1, 3, "y")],
            [TextEdit(2, 1, "x")],
            [TextEdit(0, 5, "x")],
        ],
    )
    def test_edits_out_of_order_or_range_are_refused(self, edits: list[TextEdit]) -> None:
        with pytest.raises(UsageError, match=r"^The edit of bytes \d to \d is out of order or out of range\.$"):
            file_of("abcd").apply_edits(edits)

    @pytest.mark.parametrize(
        ("encoding", "text", "character"),
        [
            (TextEncoding("cp1252", b""), "ok ж", "ж"),
            (TextEncoding("cp932", b""), "ok é", "é"),
            (UTF_8, "ok \udc80", "\udc80"),
            (TextEncoding("utf-8", b"\xef\xbb\xbf"), "ok \ud83d", "\ud83d"),
            (TextEncoding("utf-16-le", b""), "ok \udc80", "\udc80"),
            (TextEncoding("cp1251", b""), "ok \udc98", "\udc98"),
        ],
    )
    @pytest.mark.parametrize("content", ["a\nb\n", "a\r\nb\n", ""])
    def test_what_the_encoding_lacks_is_refused(
        self, encoding: TextEncoding, text: str, character: str, content: str
    ) -> None:
        file = file_of(content, encoding)
        for attempt in (lambda: file.replace_content(text), lambda: file.apply_edits([TextEdit(0, 0, text)])):
            with pytest.raises(UnencodableCharacter) as refused:
                attempt()
            assert (refused.value.character, refused.value.codec) == (character, encoding.codec)
            assert refused.value.error_type is ErrorType.FILE_WRITE_FAILURE

    @settings(max_examples=250, deadline=None)
    @given(st.data(), encodings, st.sampled_from(ENDINGS_OF_FILES))
    def test_every_byte_outside_the_edits_stays(
        self, data: st.DataObject, encoding: TextEncoding, endings: tuple[str, ...]
    ) -> None:
        text = drawn_text(data, encoding, endings)
        needle = drawn_text(data, encoding, most=4)
        new = drawn_text(data, encoding, ("\n", "\r\n"), most=6)
        file = file_of(text, encoding)
        places = file.find_all(needle)
        spliced = file.apply_edits([TextEdit(place.start, place.end, new) for place in places])
        content = joined(spliced)
        assert applied(file.raw, spliced.edits) == content
        for edit in spliced.edits:
            assert any(place.start <= edit.start <= edit.end <= place.end for place in places)
        expected, at = "", 0
        for start, end in places_of(text, needle):
            expected += plain(text[at:start]) + plain(new)
            at = end
        expected += plain(text[at:])
        assert content.startswith(encoding.bom)
        read = content[len(encoding.bom) :].decode(encoding.codec)
        assert plain(read) == expected
        assert kinds_of(read) <= (kinds_of(text) or kinds_of(new))

    @settings(max_examples=200, deadline=None)
    @given(st.data(), encodings)
    def test_files_with_broken_bytes(self, data: st.DataObject, encoding: TextEncoding) -> None:
        """Bytes that are no characters stay, whatever is edited beside them."""
        noise = st.binary(max_size=3).map(lambda raw: raw.replace(b"\n", b"").replace(b"\r", b""))
        parts = data.draw(st.lists(st.sampled_from(["x", "yy", "\n", "\r\n"]), min_size=1, max_size=8))
        raw = encoding.bom
        for part in parts:
            raw += part.encode(encoding.codec)
            broken = data.draw(noise)
            raw += broken[: len(broken) // encoding.code_unit_size * encoding.code_unit_size]
        file = TextFile(raw, encoding)
        for needle in ("yy", "x", "x\n", "\ny"):
            places = file.find_all(needle)
            for place in places:
                content = joined(file.apply_edits([TextEdit(place.start, place.end, "new")]))
                new = "new".encode(encoding.codec)
                assert content == raw[: place.start] + new + raw[place.end :]


class TestRewrite:
    def test_an_empty_file_takes_the_content_as_given(self) -> None:
        for content in ("a\nb\r\nc\r", "é", ""):
            assert rewritten("", content) == content.encode()

    def test_endings_are_kept(self) -> None:
        assert rewritten("a\r\nb\r\n", "a\nx\nb\n") == b"a\r\nx\r\nb\r\n"
        assert rewritten("a\nb\n", "a\r\nx\r\nb\r\n") == b"a\nx\nb\n"
        assert rewritten("a\rb\r", "a\nx\nb\n") == b"a\rx\rb\r"

    def test_unchanged_lines_of_a_mixed_file_keep_theirs(self) -> None:
        assert rewritten("a\r\nb\nc\rd\ne\n", "a\nb\nnew\nc\nd\nE\n") == b"a\r\nb\nnew\nc\rd\nE\n"
        assert rewritten("a\r\nb\r\nc\n", "x\na\nb\nc\ny\n") == b"x\r\na\r\nb\r\nc\ny\n"
        assert rewritten("a\r\nb\n", "A\nb\n") == b"A\r\nb\n"

    def test_the_final_line_end_is_as_the_content_has_it(self) -> None:
        assert rewritten("a\r\nb", "a\nb\n") == b"a\r\nb\r\n"
        assert rewritten("a\r\nb\r\n", "a\nb") == b"a\r\nb"
        assert rewritten("a\r\nb\n", "a\nb") == b"a\r\nb"
        assert rewritten("a\nb\r\nc", "a\nb\nc\n") == b"a\nb\r\nc\r\n"

    def test_the_mark_is_kept_and_not_doubled(self) -> None:
        for encoding in CODECS:
            file = file_of("a\r\n", encoding)
            expected = encoding.bom + "a\r\nb\r\n".encode(encoding.codec)
            assert joined(file.replace_content("a\nb\n")) == expected
            if encoding.bom:
                assert joined(file.replace_content("\ufeffa\nb\n")) == expected

    def test_lines_with_broken_bytes_are_kept(self) -> None:
        file = file_of(b"a\xff\nb\nc\xe9\n")
        assert joined(file.replace_content(file.text.replace("b", "B"))) == b"a\xff\nB\nc\xe9\n"
        with pytest.raises(UnencodableCharacter):
            file.replace_content(file.text.replace("c", "C"))

    def test_lines_with_characters_that_exist_twice_are_kept(self) -> None:
        file = file_of(b"\xed\x40\nb\n\xfa\x5c\n", TextEncoding("cp932", b""))
        assert joined(file.replace_content(file.text.replace("b", "B"))) == b"\xed\x40\nB\n\xfa\x5c\n"

    def test_no_change_has_no_edits(self) -> None:
        assert file_of("a\r\nb\r\n").replace_content("a\nb\n").edits == []
        assert file_of("a\r\nb\n").replace_content("a\r\nb\r\n").edits == []

    def test_form_feeds_and_other_separators_are_no_line_ends(self) -> None:
        text = "a\fb\x1cc\x85d\u2028e\r\nf\n"
        assert rewritten(text, plain(text).replace("f", "g")) == text.replace("f", "g").encode()

    @settings(max_examples=250, deadline=None)
    @given(st.data(), encodings, st.sampled_from(ENDINGS_OF_FILES))
    def test_reads_as_given(self, data: st.DataObject, encoding: TextEncoding, endings: tuple[str, ...]) -> None:
        text = drawn_text(data, encoding, endings)
        content = drawn_text(data, encoding, ("\n", "\r\n"))
        file = file_of(text, encoding)
        spliced = file.replace_content(content)
        result = joined(spliced)
        assert applied(file.raw, spliced.edits) == result
        assert result.startswith(encoding.bom)
        read = result[len(encoding.bom) :].decode(encoding.codec)
        assert plain(read) == plain(content)
        assert kinds_of(read) <= (kinds_of(text) or kinds_of(content))

    @settings(max_examples=150, deadline=None)
    @given(st.data(), encodings)
    def test_one_line_changed_leaves_all_others(self, data: st.DataObject, encoding: TextEncoding) -> None:
        endings = data.draw(st.lists(st.sampled_from(ENDINGS[:2]), min_size=1, max_size=12))
        lines = [f"{number}{letters_of(encoding)[1]}{ending}" for number, ending in enumerate(endings)]
        chosen = data.draw(st.integers(0, len(lines) - 1))
        file = file_of("".join(lines), encoding)
        new_lines = [f"new{endings[chosen]}" if index == chosen else line for index, line in enumerate(lines)]
        content = plain("".join(new_lines))
        assert joined(file.replace_content(content)) == encoding.bom + "".join(new_lines).encode(encoding.codec)


def test_the_edits_of_a_splice_make_a_patch() -> None:
    file = file_of("".join(f"line {number}\r\n" for number in range(1, 100)))
    spliced = file.apply_edits([TextEdit(found.start, found.end, "fifty\nmore") for found in file.find_all("line 50")])
    patch = create_patch_from_edits(
        "f", file.raw, spliced.edits, decode=file.encoding.decode, old_header="Current", new_header="Proposed"
    )
    assert patch.text.split("\n", 4)[4] == (
        "@@ -47,7 +47,8 @@\n line 47\r\n line 48\r\n line 49\r\n-line 50\r\n+fifty\r\n+more\r\n"
        " line 51\r\n line 52\r\n line 53\r\n"
    )


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=20), st.integers(0, 1_000_000), st.integers(0, 1_000_000))
def test_count_byte(pattern: bytes, start: int, end: int) -> None:
    raw = (pattern + b"ab\n") * 50_000
    assert count_byte(raw, b"\n", start, min(end, len(raw))) == raw.count(b"\n", start, min(end, len(raw)))
