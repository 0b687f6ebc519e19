import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.errors import ErrorType, ToolFailure
from tejat.workspace.text.encoding import UTF_8, TextEncoding, UnencodableCharacter, detect_encoding

MARKED = [
    TextEncoding("utf-8", codecs.BOM_UTF8),
    TextEncoding("utf-16-le", codecs.BOM_UTF16_LE),
    TextEncoding("utf-16-be", codecs.BOM_UTF16_BE),
    TextEncoding("utf-32-le", codecs.BOM_UTF32_LE),
    TextEncoding("utf-32-be", codecs.BOM_UTF32_BE),
]
LOSSLESS = [
    *("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"),
    *("euc_jp", "gbk", "gb18030", "cp949", "koi8_r", "koi8_u", "cp1251", "cp1252"),
]
EVERY_CODEC = [*LOSSLESS, "cp932", "cp950"]

# Bytes that hold many characters, halves of characters and nonsense in every encoding.
troublesome_bytes = st.one_of(
    st.binary(max_size=40),
    st.lists(
        st.sampled_from(
            [
                *("é€日本語한국어中文я".encode(codec, "ignore") for codec in EVERY_CODEC),
                *(b"a", b"\n", b"\0", b"\xd8", b"\xdc", b"\x8f\xa2\xb7", b"\x84\x31\x95\x33", b"\x11\0", b"\xff\xfe"),
            ]
        ),
        max_size=8,
    ).map(b"".join),
)


class TestLosslessness:
    @pytest.mark.parametrize("codec", LOSSLESS)
    @settings(max_examples=80, deadline=None)
    @given(raw=troublesome_bytes)
    def test_any_bytes_come_back(self, codec: str, raw: bytes):
        encoding = TextEncoding(codec, b"")
        assert encoding.encode(encoding.decode(raw)) == raw

    @pytest.mark.parametrize("codec", ["cp932", "cp950"])
    @settings(max_examples=80, deadline=None)
    @given(raw=troublesome_bytes)
    def test_characters_that_are_there_twice_come_back_as_the_same_text(self, codec: str, raw: bytes):
        encoding = TextEncoding(codec, b"")
        text = encoding.decode(raw)
        again = encoding.encode(text)
        assert (len(again), encoding.decode(again)) == (len(raw), text)

    @pytest.mark.parametrize("codec", ["cp932", "cp950", "euc_jp", "gbk", "cp949"])
    def test_each_character_of_two_bytes_is_as_long_when_it_comes_back(self, codec: str):
        encoding = TextEncoding(codec, b"")
        pairs = [bytes([lead, trail]) for lead in range(0x80, 0x100) for trail in range(0x100)]
        assert [pair for pair in pairs if len(encoding.encode(encoding.decode(pair))) != 2] == []

    @settings(max_examples=300, deadline=None)
    @given(raw=troublesome_bytes)
    def test_whatever_is_detected_loses_nothing(self, raw: bytes):
        encoding = detect_encoding(raw, whole=True)
        if encoding is None or encoding.codec in ("cp932", "cp950"):
            return
        assert encoding.bom + encoding.encode(encoding.decode(raw)) == raw

    def test_bytes_of_no_character_are_lone_surrogates(self):
        assert UTF_8.decode(b"a\xff\xe6\x97b") == "a\udcff\udce6\udc97b"
        assert TextEncoding("utf-16-le", b"").decode(b"a\0\0\xd8b\0c") == "a\udc00\udcd8b\udc63"
        assert TextEncoding("utf-32-be", b"").decode(b"\0\0\0a\0\x11\0\0") == "a\udc00\udc11\udc00\udc00"

    def test_the_one_sequence_that_would_come_back_shorter_is_kept_as_bytes(self):
        encoding = TextEncoding("euc_jp", b"")
        raw = "日".encode("euc_jp") + b"\x8f\xa2\xb7~"
        assert encoding.decode(raw) == "日\udc8f\udca2\udcb7~"
        assert encoding.encode("日\udc8f\udca2\udcb7~") == raw


class TestByteOrderMark:
    @pytest.mark.parametrize("encoding", MARKED, ids=lambda encoding: encoding.codec)
    @settings(max_examples=80, deadline=None)
    @given(text=st.text(min_size=1, max_size=20).filter(lambda text: text[0] != "\0"))
    def test_it_names_the_encoding_and_is_not_part_of_the_text(self, encoding: TextEncoding, text: str):
        raw = encoding.bom + text.encode(encoding.codec)
        assert detect_encoding(raw, whole=True) == encoding
        assert encoding.decode(raw) == text
        assert encoding.bom + encoding.encode(text) == raw

    @pytest.mark.parametrize("encoding", MARKED, ids=lambda encoding: encoding.codec)
    def test_alone_it_is_an_empty_text(self, encoding: TextEncoding):
        assert detect_encoding(encoding.bom, whole=True) == encoding
        assert encoding.decode(encoding.bom) == ""

    def test_utf16_that_begins_with_nul_is_not_utf32(self):
        assert detect_encoding(b"\xff\xfe\0\0a\0", whole=True) == TextEncoding("utf-16-le", b"\xff\xfe")

    @pytest.mark.parametrize("encoding", MARKED, ids=lambda encoding: encoding.codec)
    def test_a_mark_inside_the_text_is_a_character(self, encoding: TextEncoding):
        raw = encoding.bom + "a\ufeffb".encode(encoding.codec)
        assert encoding.decode(raw) == "a\ufeffb"

    @pytest.mark.parametrize("encoding", MARKED, ids=lambda encoding: encoding.codec)
    def test_a_text_without_the_mark_is_not_shortened(self, encoding: TextEncoding):
        assert encoding.decode("ab".encode(encoding.codec)) == "ab"

    @pytest.mark.parametrize("raw", [b"\xef", b"\xef\xbb", b"\xff", b"\xfe", b"\xef\xbbabc", b"\xffabc"])
    def test_half_a_mark_is_no_mark(self, raw: bytes):
        encoding = detect_encoding(raw, whole=True)
        assert encoding is not None
        assert encoding.bom == b""
        assert encoding.encode(encoding.decode(raw)) == raw

    def test_the_mark_of_gb18030(self):
        raw = "\ufeff你好".encode("gb18030")
        assert detect_encoding(raw, whole=True) == TextEncoding("gb18030", b"\x84\x31\x95\x33")
        assert TextEncoding("gb18030", b"\x84\x31\x95\x33").decode(raw) == "你好"


class TestUtf8:
    @settings(max_examples=200, deadline=None)
    @given(
        text=st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40).filter(
            lambda text: text[:1] != "\ufeff"
        )
    )
    def test_valid_utf8_is_utf8(self, text: str):
        assert detect_encoding(text.encode(), whole=True) == UTF_8

    def test_nothing_at_all(self):
        assert detect_encoding(b"", whole=True) == UTF_8
        assert detect_encoding(b"", whole=False) == UTF_8

    @pytest.mark.parametrize("text", ["日本語のテキスト", "Grüße aus Köln", "👍🏽 fine", "Привет, мир", "naïve café"])
    def test_a_beginning_may_end_inside_a_character(self, text: str):
        raw = text.encode() * 3
        assert [detect_encoding(raw[:end], whole=False) for end in range(len(raw))] == [UTF_8] * len(raw)

    def test_a_few_broken_bytes_do_not_make_it_something_else(self):
        assert detect_encoding("Grüße, Größe, Straße, Äpfel\n".encode() + b"\xff\n", whole=True) == UTF_8
        assert detect_encoding(("日本語" * 10).encode() + b"\x80abc" + "日本語".encode()[:-1], whole=True) == UTF_8

    def test_a_broken_byte_far_behind_does_not_either(self):
        assert detect_encoding("größer\n".encode() * 400_000 + b"\xfc", whole=True) == UTF_8

    def test_a_character_across_the_inner_chunks(self):
        assert detect_encoding(b"a" * ((1 << 20) - 1) + "日本語".encode() * 10, whole=True) == UTF_8

    def test_latin1_is_not_utf8(self):
        assert detect_encoding("Grüße aus Köln".encode("cp1252"), whole=True) == TextEncoding("cp1252", b"")


class TestWideWithoutMark:
    @pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
    @pytest.mark.parametrize(
        "text",
        [
            "hello, world\n",
            "Grüße aus Köln\r\n",
            "Привет, мир\n",
            "日本語のテキスト\n二行目\n",
            "今天天气很好，我们去公园。\n第一\n",
            "안녕하세요 세계\n",
            "emoji 😀 and text",
            "ab",
        ],
    )
    def test_it_is_seen_by_its_zeros(self, codec: str, text: str):
        raw = text.encode(codec)
        assert detect_encoding(raw, whole=True) == TextEncoding(codec, b"")
        assert detect_encoding(raw * 1000, whole=True) == TextEncoding(codec, b"")

    @pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
    def test_a_beginning_may_end_inside_a_character(self, codec: str):
        raw = "smile 😀😀 and go on".encode(codec)
        found = {detect_encoding(raw[:end], whole=False) for end in range(12, len(raw))}
        assert found == {TextEncoding(codec, b"")}

    @pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
    def test_a_broken_end_does_not_make_it_binary(self, codec: str):
        raw = "hello, world".encode(codec) + b"x"
        assert detect_encoding(raw, whole=True) == TextEncoding(codec, b"")
        assert TextEncoding(codec, b"").decode(raw) == "hello, world\udc78"


class TestBinary:
    @pytest.mark.parametrize(
        "raw",
        [
            b"\0",
            b"a\0",
            b"abc\0",
            b"hello\0world!\0",
            b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\0\x3e\0\x01\0\0\0",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0",
            b"PK\x03\x04\x14\0\0\0\x08\0",
            bytes(range(256)) * 4,
            b"text " * 10 + b"\x01\x02\x03\x04\x05" * 6,
            b"\x01\0\x02\0\x03\0\x04\0" * 20,
        ],
    )
    def test_it_has_no_encoding(self, raw: bytes):
        assert detect_encoding(raw, whole=True) is None

    def test_a_nul_behind_the_probe_does_not_count(self):
        assert detect_encoding(b"a" * 4096 + b"\0", whole=True) == UTF_8
        assert detect_encoding(b"a" * 4095 + b"\0", whole=True) is None

    def test_control_bytes_up_to_three_in_ten_are_text(self):
        assert detect_encoding(b"\x1b" * 30 + b"a" * 70, whole=True) == UTF_8
        assert detect_encoding(b"\x1b" * 31 + b"a" * 69, whole=True) is None

    def test_tabs_newlines_and_form_feeds_are_no_control_bytes(self):
        assert detect_encoding(b"\t\n\x0b\x0c\r", whole=True) == UTF_8


TEXT = "a\n日本 é я 한글 中文 €\n" * 3


class TestByteOffsets:
    @pytest.mark.parametrize("codec", EVERY_CODEC)
    @pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
    @settings(max_examples=30, deadline=None)
    @given(pieces=st.lists(troublesome_bytes, max_size=3), picks=st.sets(st.integers(0, 200)))
    def test_they_agree_with_reading_byte_by_byte(self, codec: str, bom: bytes, pieces: list[bytes], picks: set[int]):
        encoding = TextEncoding(codec, bom)
        raw = bom + TEXT.encode(codec, "ignore") + b"".join(pieces)
        text = encoding.decode(raw)
        positions = sorted(position for position in picks | {0, len(text)} if position <= len(text))
        naive = _offsets_one_by_one(raw, text, encoding)
        assert encoding.byte_offsets(raw, text, positions) == [naive[position] for position in positions]

    def test_a_far_position(self):
        text = "日" * (1 << 20) + "ab"
        raw = text.encode()
        assert UTF_8.byte_offsets(raw, text, [0, 1 << 20, len(text)]) == [0, 3 << 20, len(raw)]

    def test_no_positions(self):
        assert UTF_8.byte_offsets("日".encode(), "日", []) == []


def _offsets_one_by_one(raw: bytes, text: str, encoding: TextEncoding) -> list[int]:
    """Grows each character's bytes until they read as that character: no encoder takes part."""
    offsets = [len(encoding.bom)]
    unmarked = TextEncoding(encoding.codec, b"")
    for character in text:
        start = offsets[-1]
        if "\udc00" <= character <= "\udcff":
            length = 1
        else:
            lengths = range(encoding.code_unit_size, 5)
            length = next(length for length in lengths if unmarked.decode(raw[start : start + length]) == character)
        offsets.append(start + length)
    return offsets


class TestWriting:
    def test_what_the_encoding_lacks_is_named(self):
        with pytest.raises(UnencodableCharacter) as caught:
            TextEncoding("koi8_r", b"").encode("цена 5 €")
        assert isinstance(caught.value, ToolFailure)
        assert (caught.value.character, caught.value.codec, caught.value.error_type) == (
            "€",
            "koi8_r",
            ErrorType.FILE_WRITE_FAILURE,
        )
        assert caught.value.message == (
            "The character U+20AC '€' (EURO SIGN) cannot be encoded in koi8_r, the encoding of this file. "
            "Use a character that koi8_r supports, or convert the file to UTF-8 first."
        )

    @pytest.mark.parametrize(
        ("codec", "character"),
        [
            ("cp1252", "я"),
            ("cp1251", "é"),
            ("koi8_r", "ї"),
            ("cp932", "한"),
            ("euc_jp", "😀"),
            ("gbk", "😀"),
            ("cp950", "你👍"),
            ("cp949", "é"),
        ],
    )
    def test_each_old_encoding_lacks_something(self, codec: str, character: str):
        with pytest.raises(UnencodableCharacter) as caught:
            TextEncoding(codec, b"").encode_new("a" + character)
        assert caught.value.character == character[-1]

    def test_a_character_that_cannot_be_shown_is_named_only(self):
        with pytest.raises(UnencodableCharacter, match=r"^The character U\+200B \(ZERO WIDTH SPACE\) cannot"):
            TextEncoding("koi8_r", b"").encode("\u200b")

    @pytest.mark.parametrize("codec", EVERY_CODEC)
    @pytest.mark.parametrize("code", [0xD800, 0xDC41, 0xDCFF, 0xDFFF])
    def test_lone_surrogates_in_new_text_are_refused(self, codec: str, code: int):
        with pytest.raises(UnencodableCharacter) as caught:
            TextEncoding(codec, b"").encode_new("a" + chr(code))
        assert caught.value.message == (
            f"The lone surrogate U+{code:04X} cannot be encoded in {codec}, the encoding of this file. Remove it."
        )

    @pytest.mark.parametrize("codec", EVERY_CODEC)
    def test_surrogates_that_decode_never_gives_are_refused(self, codec: str):
        with pytest.raises(UnencodableCharacter):
            TextEncoding(codec, b"").encode("a\ud800")

    @pytest.mark.parametrize("encoding", MARKED, ids=lambda encoding: encoding.codec)
    def test_the_mark_is_left_to_the_caller(self, encoding: TextEncoding):
        assert encoding.encode("") == b""
        assert encoding.encode_new("a") == "a".encode(encoding.codec)


@pytest.mark.parametrize(
    ("codec", "wide", "unicode", "unit"),
    [
        ("utf-8", False, True, 1),
        ("utf-16-be", True, True, 2),
        ("utf-32-le", True, True, 4),
        ("cp932", False, False, 1),
    ],
)
def test_properties(codec: str, wide: bool, unicode: bool, unit: int):
    encoding = TextEncoding(codec, b"")
    assert (encoding.is_wide, encoding.is_unicode, encoding.code_unit_size) == (wide, unicode, unit)
