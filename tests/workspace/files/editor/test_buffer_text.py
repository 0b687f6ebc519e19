"""Whatever encoding and line endings a file has, an editor that has not changed it is recognized."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.text_samples import CODECS
from tejat.workspace.files.editor.buffer_text import (
    PLAIN_FORM,
    TextForm,
    encode_buffer,
    find_form,
    has_same_text,
    is_misread,
    is_valid_text,
    normalize_text,
    shown_text,
    text_digest,
)

LF = TextForm()
CRLF_AS_LF = TextForm(hides_carriage_returns=True)
CRLF = TextForm(shows_carriage_returns=True)

printable = st.text(st.sampled_from("ab é日\n") | st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
texts = st.text(st.sampled_from("ab é日\n\r\ufeff\ufffd\0") | st.characters(exclude_categories=["Cs"]), max_size=30)


class TestFindForm:
    @pytest.mark.parametrize(
        ("text", "raw", "expected"),
        [
            ("", b"", LF),
            ("a\nb\n", b"a\nb\n", LF),
            ("a\r\nb\r\n", b"a\r\nb\r\n", CRLF),
            ("a\nb\n", b"a\r\nb\r\n", CRLF_AS_LF),
            ("a\nb\n", b"a\rb\r", CRLF_AS_LF),
            ("a\nb\n", b"a\r\nb\n", CRLF_AS_LF),
            ("\ufeffa\n", b"\xef\xbb\xbfa\n", TextForm(shows_bom=True)),
            ("a\n", b"\xef\xbb\xbfa\n", LF),
            ("a\nb", b"a\nb\n", TextForm(hides_last_newline=True)),
            ("a\nb", b"a\r\nb\r\n", TextForm(hides_carriage_returns=True, hides_last_newline=True)),
            ("a\nb\n", b"a\nb", None),
            ("a\n", b"a\n\n\n", None),
            ("b", b"a", None),
            ("a", b"", None),
            ("A\n", b"a\n", None),
        ],
    )
    def test_text(self, text: str, raw: bytes, expected: TextForm | None) -> None:
        assert find_form(text, raw) == expected

    @pytest.mark.parametrize(("codec", "mark", "lines"), CODECS)
    def test_encodings(self, codec: str, mark: bytes, lines: list[str]) -> None:
        text = "\n".join([*lines, ""])
        raw = mark + text.encode(codec)
        assert find_form(text, raw) is not None
        assert find_form(text.replace("edit_me", "edited"), raw) is None

    @pytest.mark.parametrize(("codec", "mark", "lines"), CODECS)
    def test_misreadings_of_other_encodings(self, codec: str, mark: bytes, lines: list[str]) -> None:
        raw = mark + "\n".join([*lines, ""]).encode(codec)
        for misread in (raw.decode("utf-8", "replace"), raw.decode("latin-1"), raw.decode("cp1252", "replace")):
            changed = misread.replace("e", "x")
            # A file that can be decoded is not misread.
            if codec != "utf-8":
                assert find_form(misread, raw) is not None
                assert changed == misread or find_form(changed, raw) is None

    def test_one_replacement_character_may_stand_for_several_bytes(self) -> None:
        raw = b"plain text with \xe2\x82 and \xff\xfe in it, plain enough\n"
        for misread in (raw.decode("utf-8", "replace"), "plain text with \ufffd and \ufffd in it, plain enough\n"):
            assert find_form(misread, raw) is not None


@given(printable, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_a_file_is_recognized_by_every_way_to_show_it(text: str, ending: str, has_mark: bool) -> None:
    shown = normalize_text(text)
    saved = shown.replace("\n", ending)
    mark = "\ufeff" if has_mark else ""
    raw = (mark + saved).encode()
    for view in (saved, shown, mark + saved, mark + shown):
        assert find_form(view, raw) is not None


@given(texts, st.builds(TextForm, st.booleans(), st.booleans(), st.booleans(), st.booleans()))
def test_what_an_editor_gets_says_everything(text: str, form: TextForm) -> None:
    """An editor that restores what it hides saves exactly the bytes."""
    raw = text.encode()
    shown = shown_text(raw, form)
    if shown is None:
        return
    if form.hides_last_newline and raw.endswith(b"\n"):
        shown += "\n"
    if form.hides_carriage_returns:
        assert "\r" not in shown
        shown = shown.replace("\n", "\r\n")
    assert shown.encode() == raw


@pytest.mark.parametrize(
    ("raw", "form", "expected"),
    [
        (b"a\nb\n", PLAIN_FORM, "a\nb\n"),
        (b"", PLAIN_FORM, ""),
        ("日\n".encode(), PLAIN_FORM, "日\n"),
        (b"a\r\nb\r\n", PLAIN_FORM, None),
        (b"a\r\nb\r\n", CRLF, "a\r\nb\r\n"),
        (b"a\r\nb\r\n", CRLF_AS_LF, "a\nb\n"),
        (b"a\r\nb\n", CRLF, None),
        (b"a\r\nb\n", CRLF_AS_LF, None),
        (b"a\rb\r", CRLF, None),
        (b"a\nb\n", CRLF, None),
        (b"a\nb\n", CRLF_AS_LF, None),
        (b"no line end", CRLF_AS_LF, "no line end"),
        (b"a\nb\n", TextForm(hides_last_newline=True), "a\nb"),
        (b"\xef\xbb\xbfa", PLAIN_FORM, None),
        (b"\xef\xbb\xbfa", TextForm(shows_bom=True), "\ufeffa"),
        (b"\xe9t\xe9", PLAIN_FORM, None),
        (b"a\0b", PLAIN_FORM, None),
    ],
)
def test_texts_for_an_editor(raw: bytes, form: TextForm, expected: str | None) -> None:
    assert shown_text(raw, form) == expected


@given(texts, texts)
def test_digests_are_equal_for_equal_texts(one: str, other: str) -> None:
    assert (text_digest(one) == text_digest(other)) is (normalize_text(one) == normalize_text(other))
    assert text_digest(one) == text_digest(normalize_text(one).replace("\n", "\r\n"))


@given(st.text())
def test_lone_surrogates_are_invalid(text: str) -> None:
    assert is_valid_text(text) is not any("\ud800" <= character <= "\udfff" for character in text)


@given(texts)
def test_a_buffer_is_encoded_with_its_mark(text: str) -> None:
    raw, encoding = encode_buffer(text)
    assert (raw.decode(), encoding.codec) == (text, "utf-8")
    assert (encoding.bom != b"") is text.startswith("\ufeff")


def test_the_same_text_in_other_bytes() -> None:
    assert has_same_text("é\n", "é\r\n".encode())
    assert has_same_text("été\n", "\ufeffété\r\n".encode("utf-16-le"))
    assert not has_same_text("a", b"a\n")
    assert not has_same_text("a", b"\0\1\2" * 99)


def test_characters_that_an_editor_cannot_show() -> None:
    raw = "l'élève a changé dans la forêt".encode("cp1252")
    assert is_misread(raw.decode("utf-8", "replace"), raw)
    assert not is_misread(raw.decode("cp1252"), raw)
    assert not is_misread("a \ufffd that is in the file", "the \ufffd".encode())
