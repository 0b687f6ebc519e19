"""Reading of context files, with limits and without hidden characters."""

import os
from collections.abc import Callable

from tejat.config.files.reader import AllowedWriters, check_writers
from tejat.core.errors import ConfigurationError
from tejat.core.i18n import lazy
from tejat.core.sanitize import hidden_characters, strip_hidden
from tejat.workspace.files.regular_file import regular_file_opener

MAX_BYTES = 256 * 1024
"""The limit for one file."""
MAX_TOTAL_BYTES = 2**20
MAX_FILES = 500
MAX_IMPORTS = 2000
"""The limit for lookups of import paths."""


class UnreadableContextFile(Exception):
    """A context file that cannot be used. The message says why."""


class ContextReader:
    """Reads the context files of a session. `warnings` are for the user.

    Of `writers` other than anyone, files that others could write, or replace in their directory, are refused. If
    `accepts` is set, it decides about each file by its real path, its status and its whole content.
    """

    def __init__(self) -> None:
        self.writers = AllowedWriters.ANYONE
        self.accepts: Callable[[str, os.stat_result, bytes], bool] | None = None
        self.warnings: list[str] = []
        self._left = MAX_TOTAL_BYTES
        self._files = 0
        self._mentions = 0

    def count_import(self) -> bool:
        """Count one more lookup, and return whether it is within the limit."""
        self._mentions += 1
        if self._mentions == MAX_IMPORTS + 1:
            self.warnings.append(
                lazy("The context files have more than {most} imports. The rest is ignored.", most=MAX_IMPORTS)
            )
        return self._mentions <= MAX_IMPORTS

    def read(self, path: str, *, named: str | None = None) -> str:
        """Read a regular file, with LF line ends. `named` is its path as the user knows it.

        A long file is truncated at the end of a line. Raises UnreadableContextFile.
        """
        named = named or path
        if self._left <= 0 or self._files >= MAX_FILES:
            raise UnreadableContextFile(
                lazy("the limit of {size} KB and {most} files is reached", size=MAX_TOTAL_BYTES // 1024, most=MAX_FILES)
            )
        try:
            descriptor = regular_file_opener(path, os.O_RDONLY)
            try:
                if self.writers is AllowedWriters.TRUSTED:
                    check_writers(os.stat(os.path.dirname(path)), os.path.dirname(path))
                    check_writers(os.fstat(descriptor), path)
                content = _read_head(descriptor, min(MAX_BYTES, self._left))
                status = os.fstat(descriptor)
            finally:
                os.close(descriptor)
        except ConfigurationError as error:
            raise UnreadableContextFile(str(error).removesuffix(".")) from None
        except OSError as error:
            raise UnreadableContextFile(error.strerror or lazy("cannot be read")) from None
        # A part of a long file cannot be compared; the file was when the session began.
        if self.accepts is not None and not content.is_cut and not self.accepts(path, status, content.content):
            raise UnreadableContextFile(lazy("it changed since it was agreed to"))
        self._left -= len(content.content)
        self._files += 1
        if content.is_cut:
            self.warnings.append(
                lazy(
                    "{named} is too long: only the first {kept} KB are used.",
                    named=named,
                    kept=len(content.content) // 1024,
                )
            )
        return self._decode(content.content, named)

    def _decode(self, content: bytes, named: str) -> str:
        if b"\0" in content:
            raise UnreadableContextFile(lazy("not a text file"))
        text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
        if listed := hidden_characters(text):
            self.warnings.append(
                lazy("{named} contains hidden characters ({listed}). They are removed.", named=named, listed=listed)
            )
        return strip_hidden(text)


class _Content:
    def __init__(self, kept: bytes, *, is_cut: bool) -> None:
        self.content = kept
        self.is_cut = is_cut


def _read_head(descriptor: int, max_bytes: int) -> _Content:
    content = b""
    while len(content) <= max_bytes and (piece := os.read(descriptor, max_bytes + 1 - len(content))):
        content += piece
    if len(content) <= max_bytes:
        return _Content(content, is_cut=False)
    line_end = content.rfind(b"\n", 0, max_bytes) + 1
    return _Content(content[: line_end or max_bytes], is_cut=True)
