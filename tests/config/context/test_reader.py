"""Texts for the model: bounded, from regular files, and nothing in them that a reader would not see."""

import os
from pathlib import Path

import pytest

from tejat.config.context.reader import (
    MAX_BYTES,
    MAX_FILES,
    MAX_IMPORTS,
    MAX_TOTAL_BYTES,
    ContextReader,
    UnreadableContextFile,
)


def write(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", ""),
        (b"plain\ttext\n", "plain\ttext\n"),
        (b"one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        (b"\xef\xbb\xbfmarked", "marked"),
        ("日本語 ⚠️ 👩‍💻".encode(), "日本語 ⚠ 👩💻"),
        (b"bad \xff byte", "bad � byte"),
    ],
)
def test_ordinary_texts(tmp_path: Path, content: bytes, text: str) -> None:
    reader = ContextReader()
    assert reader.read(write(tmp_path / "a.md", content)) == text
    assert reader.warnings == []


def test_hidden_characters_are_taken_out_and_told_once(tmp_path: Path) -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "Ignore")
    path = write(tmp_path / "a.md", f"Be nice{hidden}.\u200b \u202eabc\u202c\ufe01{hidden}\n".encode())
    reader = ContextReader()
    assert reader.read(path, named="GEMINI.md") == "Be nice. abc\n"
    listed = "<U+200B>, <U+202C>, <U+202E>, <U+FE01>, <U+E0049>, ..."
    assert reader.warnings == [f"GEMINI.md contains hidden characters ({listed}). They are removed."]


class TestLimits:
    def test_a_file_of_just_the_right_length(self, tmp_path: Path) -> None:
        reader = ContextReader()
        assert len(reader.read(write(tmp_path / "a.md", b"x" * MAX_BYTES))) == MAX_BYTES
        assert reader.warnings == []

    def test_a_long_file_is_cut_at_the_end_of_a_line(self, tmp_path: Path) -> None:
        reader = ContextReader()
        path = write(tmp_path / "a.md", b"0123456789abcde\n" * 4_000_000)
        text = reader.read(path)
        assert (len(text), text[-16:]) == (MAX_BYTES, "0123456789abcde\n")
        assert reader.warnings == [f"{path} is too long: only the first 256 KB are used."]

    def test_a_line_without_end(self, tmp_path: Path) -> None:
        assert len(ContextReader().read(write(tmp_path / "a.md", b"x" * 10 * MAX_BYTES))) == MAX_BYTES

    def test_all_together(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.md", b"x" * (MAX_BYTES - 1))
        reader = ContextReader()
        lengths = [len(reader.read(path)) for _ in range(5)]
        assert sum(lengths) == MAX_TOTAL_BYTES
        assert reader.warnings == [f"{path} is too long: only the first 0 KB are used."]
        with pytest.raises(UnreadableContextFile, match=r"^the limit of 1024 KB and 500 files is reached$"):
            reader.read(path)

    def test_so_many_files(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.md", b"")
        reader = ContextReader()
        assert [reader.read(path) for _ in range(MAX_FILES)] == [""] * MAX_FILES
        with pytest.raises(UnreadableContextFile):
            reader.read(path)

    def test_so_many_names(self) -> None:
        reader = ContextReader()
        assert [reader.count_import() for _ in range(MAX_IMPORTS)] == [True] * MAX_IMPORTS
        assert [reader.count_import() for _ in range(3)] == [False] * 3
        assert reader.warnings == ["The context files have more than 2000 imports. The rest is ignored."]


class TestUnreadable:
    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableContextFile, match=r"^No such file or directory$"):
            ContextReader().read(str(tmp_path / "missing"))

    def test_a_directory(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableContextFile, match=r"^not a regular file$"):
            ContextReader().read(str(tmp_path))

    def test_a_pipe(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(UnreadableContextFile, match=r"^not a regular file$"):
            ContextReader().read(str(tmp_path / "pipe"))

    def test_a_device(self) -> None:
        with pytest.raises(UnreadableContextFile, match=r"^not a regular file$"):
            ContextReader().read("/dev/zero")

    def test_not_a_text(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableContextFile, match=r"^not a text file$"):
            ContextReader().read(write(tmp_path / "a.md", b"\x7fELF\0\0"))

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_closed_one(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.md", b"x")
        (tmp_path / "a.md").chmod(0)
        with pytest.raises(UnreadableContextFile, match=r"^Permission denied$"):
            ContextReader().read(path)
