"""Lines of a task file: numbered, bounded, without a byte order mark."""

import os
from pathlib import Path

import pytest

from tejat.batch.plan.fields import MAX_TEXT_BYTES
from tejat.batch.plan.text_lines import UnusableLine, decode_line, line_source, open_task_file, read_lines
from tejat.core.errors import UsageError


def lines(path: Path, content: bytes) -> list[tuple[int, bytes | None]]:
    path.write_bytes(content)
    return list(read_lines(str(path)))


def test_lines(tmp_path: Path) -> None:
    assert lines(tmp_path / "a", b"") == []
    assert lines(tmp_path / "a", b"a\n\r\n\nb") == [(1, b"a\n"), (2, b"\r\n"), (3, b"\n"), (4, b"b")]


def test_byte_order_marks(tmp_path: Path) -> None:
    assert lines(tmp_path / "a", b"\xef\xbb\xbfa\n\xef\xbb\xbfb") == [(1, b"a\n"), (2, b"\xef\xbb\xbfb")]
    for encoding in ("utf-16", "utf-16-le"):
        with pytest.raises(UsageError, match=r"a is encoded in UTF-16. Save it as UTF-8\."):
            lines(tmp_path / "a", "\ufeffa".removeprefix("\ufeff" if encoding == "utf-16" else "").encode(encoding))


def test_long_lines_are_skipped(tmp_path: Path) -> None:
    longest = b"x" * (MAX_TEXT_BYTES - 1) + b"\n"
    content = longest + b"y" + longest + b"a\n" + b"z" * (3 * MAX_TEXT_BYTES)
    assert lines(tmp_path / "a", content) == [(1, longest), (2, None), (3, b"a\n"), (4, None)]


def test_decoding() -> None:
    assert decode_line("é\n".encode()) == "é\n"
    with pytest.raises(UnusableLine, match=r"The line is not UTF-8: invalid byte 2\."):
        decode_line(b"a\xff")
    with pytest.raises(UnusableLine, match=r"The line is longer than 8 MB\."):
        decode_line(None)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name, why in (("none", "No such file or directory"), ("fifo", "not a regular file"), (".", "Is a directory")):
        with (
            pytest.raises(UsageError, match=rf"Could not read .*: ({why}|not a regular file)\."),
            open_task_file(str(tmp_path / name)),
        ):
            pass


def test_source() -> None:
    assert line_source("/a/b/tasks.jsonl", 7) == "tasks.jsonl:7"
