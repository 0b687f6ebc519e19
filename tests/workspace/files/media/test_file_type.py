import pytest

from support.media_files import bmp, gif, jpeg, png, webp
from tejat.workspace.files.media.file_type import SUPPORTED_AUDIO, FileKind, FileType, classify_file
from tejat.workspace.text.encoding import UTF_8, TextEncoding

TEXT = b"hello, world\n"
NOISE = b"\x00\x01\x02\x03\xff\xfe\xfd" * 40
UTF_8_TEXT = FileType(FileKind.TEXT, "text/plain", UTF_8)
BINARY = FileType(FileKind.BINARY, "application/octet-stream", None)


@pytest.mark.parametrize(
    ("name", "mime_type"),
    [
        ("a.png", "image/png"),
        ("a.jpg", "image/jpeg"),
        ("a.jpeg", "image/jpeg"),
        ("a.gif", "image/gif"),
        ("a.webp", "image/webp"),
        ("a.bmp", "image/bmp"),
        ("A.PNG", "image/png"),
        ("deep/er/photo.of.me.JpG", "image/jpeg"),
    ],
)
def test_images_by_name_where_the_content_tells_nothing(name: str, mime_type: str):
    for content in (NOISE, b""):
        assert classify_file(name, content, whole=False) == FileType(FileKind.IMAGE, mime_type, None)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.pdf", "a.mp4", "a.txt", "a"])
@pytest.mark.parametrize(
    ("content", "mime_type"),
    [
        (png(), "image/png"),
        (jpeg(), "image/jpeg"),
        (gif(), "image/gif"),
        (webp(), "image/webp"),
        (bmp(), "image/bmp"),
    ],
)
def test_images_by_content(name: str, content: bytes, mime_type: str):
    assert classify_file(name, content, whole=True) == FileType(FileKind.IMAGE, mime_type, None)


@pytest.mark.parametrize("name", ["a.png", "a.pdf", "a.mp3", "a.mov"])
@pytest.mark.parametrize("content", [TEXT, b"version https://git-lfs.github.com/spec/v1\n", b"BM, in short", b"GIF89a"])
def test_text_with_the_name_of_media(name: str, content: bytes):
    assert classify_file(name, content, whole=True) == UTF_8_TEXT


def test_pdf():
    expected = FileType(FileKind.PDF, "application/pdf", None)
    for name, content in (("a.pdf", b"%PDF-1.7\n"), ("a.pdf", NOISE), ("a.pdf", b""), ("a.png", b"%PDF-1.7\n" + NOISE)):
        assert classify_file(name, content, whole=True) == expected
    assert classify_file("a.txt", b"%PDF-1.7\n", whole=True) == UTF_8_TEXT


class TestSvg:
    def test_it_is_text(self):
        assert classify_file("a.svg", b"<svg/>", whole=True) == FileType(FileKind.TEXT, "image/svg+xml", UTF_8)

    def test_it_may_be_in_any_encoding(self):
        expected = FileType(FileKind.TEXT, "image/svg+xml", TextEncoding("utf-16-le", b"\xff\xfe"))
        assert classify_file("a.svg", b"\xff\xfe<\0s\0v\0g\0", whole=False) == expected

    def test_without_text_it_is_binary(self):
        assert classify_file("a.svg", NOISE, whole=True) == BINARY


class TestRecordings:
    @pytest.mark.parametrize(
        ("name", "mime_type"),
        [
            ("a.mp3", "audio/mpeg"),
            ("a.wav", "audio/wav"),
            ("a.aiff", "audio/aiff"),
            ("a.aif", "audio/aiff"),
            ("a.aac", "audio/aac"),
            ("a.ogg", "audio/ogg"),
            ("a.flac", "audio/flac"),
        ],
    )
    def test_supported_audio(self, name: str, mime_type: str):
        assert classify_file(name, NOISE, whole=False) == FileType(FileKind.AUDIO, mime_type, None)
        assert mime_type in SUPPORTED_AUDIO.values()

    @pytest.mark.parametrize("name", ["a.m4a", "a.wma", "a.opus", "a.mid"])
    def test_other_audio_is_audio_of_another_type(self, name: str):
        found = classify_file(name, NOISE, whole=False)
        assert (found.kind, found.encoding) == (FileKind.AUDIO, None)
        assert found.mime_type not in SUPPORTED_AUDIO.values()

    @pytest.mark.parametrize(
        ("name", "mime_type"),
        [("a.mp4", "video/mp4"), ("a.mov", "video/quicktime"), ("a.webm", "video/webm"), ("a.mkv", "video/x-matroska")],
    )
    def test_video(self, name: str, mime_type: str):
        assert classify_file(name, NOISE, whole=False) == FileType(FileKind.VIDEO, mime_type, None)

    @pytest.mark.parametrize("name", ["a.mp3", "a.m4a", "a.mp4", "a.mpeg"])
    def test_with_text_in_it_it_is_text(self, name: str):
        assert classify_file(name, TEXT, whole=True) == UTF_8_TEXT

    def test_sound_without_zeros_is_not_taken_for_an_old_encoding(self):
        frames = bytes(range(0x80, 0x100)) * 20
        assert classify_file("a.aac", b"\xff\xf1" + frames, whole=False) == FileType(FileKind.AUDIO, "audio/aac", None)


@pytest.mark.parametrize("name", ["a.ts", "a.mts", "a.cts", "a.tsx", "A.TS"])
def test_typescript_is_no_video(name: str):
    assert classify_file(name, b"export const a: number = 1;\n", whole=True) == UTF_8_TEXT


class TestBinary:
    @pytest.mark.parametrize(
        "extension",
        [
            *("zip", "tar", "gz", "bz2", "rar", "7z", "jar", "war", "pak", "rpa", "ZIP"),
            *("exe", "dll", "so", "dylib", "class", "obj", "o", "a", "lib", "wasm", "pyc", "pyo", "bin", "dat"),
            *("doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp"),
        ],
    )
    def test_by_name_even_with_text_in_it(self, extension: str):
        assert classify_file(f"dir.d/a.{extension}", TEXT, whole=True) == BINARY

    @pytest.mark.parametrize("name", ["a", "a.txt", "a.unknown", "a.ts", ".png"])
    def test_by_content(self, name: str):
        assert classify_file(name, NOISE, whole=True) == BINARY


@pytest.mark.parametrize(
    "name", ["Makefile", ".zip", "dir.zip/readme", "a.zip.txt", "a.", "png", ".gitignore", "a.unknown"]
)
def test_names_that_promise_nothing_are_judged_by_content(name: str):
    assert classify_file(name, TEXT, whole=True) == UTF_8_TEXT


def test_an_empty_file_is_text():
    assert classify_file("a.unknown", b"", whole=True) == UTF_8_TEXT


def test_a_beginning_that_ends_inside_a_character_is_text():
    assert classify_file("a.md", "日本語".encode()[:-1], whole=False) == UTF_8_TEXT


WORDS = {
    "utf-8": [
        "plain",
        "naïve",
        "日本語",
        "中文内容",
        "한국어",
        "Привет",
        "שלום",
        "مرحبا",
        "emoji 😀👍🏽",
        "\ufffd�",
        "x" * 5000,
    ],
    "utf-8-sig": ["marked", "日本語"],
    "utf-16": ["marked", "日本語", "Привет\n", "😀"],
    "utf-32": ["marked", "日本語"],
    "utf-16-le": ["without a mark", "Привет, мир", "日本語\nです"],
    "utf-16-be": ["without a mark", "Привет, мир", "日本語\nです"],
    "utf-32-be": ["without a mark"],
    "cp1252": ["Grüße", "déjà vu", "señor", "ação", "smörgås", "€ 5 – “so”"],
    "cp1251": ["Привет, мир", "Українська мова", "Български"],
    "koi8_r": ["Привет, мир", "// комментарий"],
    "cp932": ["日本語のテキスト", "ﾊﾝｶｸ", "// 注釈"],
    "euc_jp": ["日本語のテキスト", "// 注釈です"],
    "gbk": ["中文内容", "// 注释内容"],
    "gb18030": ["中文😀内容"],
    "big5": ["中文內容", "// 註解內容"],
    "euc_kr": ["한국어 내용", "// 주석 내용"],
}
ODD_TEXTS = [
    b"",
    b"\n",
    b"\r\n\r\n",
    b"\x0c\n",
    b"\x1b[31mred\x1b[0m and some more text\n",
    b"caf\xe9",
    b"\xff",
    b"\x80\x81\x82",
    b"a" * 4096 + b"\0",
    "日".encode() * 2000 + b"\xe6",
    b"tail " + "é".encode()[:1],
    b"\xef\xbb",
]


def test_no_text_is_taken_for_binary():
    texts = [word.encode(codec) for codec, words in WORDS.items() for word in words] + ODD_TEXTS
    assert len(texts) >= 60
    assert [text for text in texts if classify_file("a.txt", text, whole=True).kind is not FileKind.TEXT] == []
    assert [text for text in texts if classify_file("a.txt", text, whole=False).kind is not FileKind.TEXT] == []
