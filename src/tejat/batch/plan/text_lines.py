"""Lines of a task file, one at a time, whatever their length."""

import codecs
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import IO

from tejat.batch.plan.fields import MAX_TEXT_BYTES
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.workspace.files.regular_file import regular_file_opener

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class UnusableLine(Exception):
    """A line that is too long or not UTF-8. The message says which."""


@contextmanager
def open_task_file(path: str) -> Generator[IO[bytes]]:
    """Open a regular file for reading. Raises UsageError, also if reading fails within the block."""
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            yield file
    except OSError as error:
        raise UsageError(_("Could not read {path}: {why}.", path=path, why=error.strerror or error)) from error


def read_lines(path: str) -> Iterator[tuple[int, bytes | None]]:
    """The lines with their numbers and line ends. None stands for a line above the limit.

    A byte order mark is skipped. Raises UsageError if the file cannot be read.
    """
    with open_task_file(path) as file:
        number = 0
        while line := file.readline(MAX_TEXT_BYTES + 1):
            number += 1
            if number == 1:
                check_encoding(line, path)
                line = line.removeprefix(codecs.BOM_UTF8)
            if len(line) <= MAX_TEXT_BYTES:
                yield number, line
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_TEXT_BYTES)
            yield number, None


def check_encoding(beginning: bytes, path: str) -> None:
    """Raises UsageError for UTF-16, which some spreadsheets and shells write."""
    if beginning.startswith(_UTF_16):
        raise UsageError(_("{path} is encoded in UTF-16. Save it as UTF-8.", path=path))


def decode_line(line: bytes | None) -> str:
    """The text of a line. Raises UnusableLine."""
    if line is None:
        raise UnusableLine(_("The line is longer than {size} MB.", size=MAX_TEXT_BYTES // 2**20))
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise UnusableLine(_("The line is not UTF-8: invalid byte {at}.", at=error.start + 1)) from None


def line_source(path: str, number: int) -> str:
    """Where a task comes from: `tasks.jsonl:7`."""
    return f"{os.path.basename(path)}:{number}"
