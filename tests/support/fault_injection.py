"""System calls that fail: the n-th one, or all of a kind that a file system lacks."""

import errno
import os
from collections.abc import Callable, Sequence
from typing import Any

import pytest

FILE_SYSTEMS = ("nameless drafts", "named drafts", "no links")
"""What a file system can do: everything, no files without a name, or no hard links either."""


def fail(code: int) -> OSError:
    return OSError(code, os.strerror(code))


def limit_file_system(patch: pytest.MonkeyPatch, file_system: str) -> None:
    """Let calls fail as on one of the FILE_SYSTEMS."""
    if file_system != "nameless drafts":
        real_open = os.open

        def open_with_a_name(path: str, flags: int, *args: Any, **keywords: Any) -> int:
            if flags & os.O_TMPFILE == os.O_TMPFILE:
                raise fail(errno.EOPNOTSUPP)
            return real_open(path, flags, *args, **keywords)

        patch.setattr(os, "open", open_with_a_name)
    if file_system == "no links":

        def no_link(*_: object, **__: object) -> None:
            raise fail(errno.EPERM)

        patch.setattr(os, "link", no_link)


class NthCallFails:
    """Counts the calls of some functions of `os`, and lets one of them fail, counted from 0.

    With `lasting`, all after it fail too. `open for writing` stands for those calls of `open`. A failing write stores
    half of its bytes first, as on a full disk.
    """

    def __init__(
        self,
        patch: pytest.MonkeyPatch,
        names: Sequence[str],
        failing: int,
        how: Callable[[], BaseException],
        *,
        lasting: bool = False,
    ) -> None:
        self.count = 0
        self.failed: str | None = None
        self._failing = failing
        self._lasting = lasting
        self._how = how
        for name in names:
            function = name.partition(" ")[0]
            patch.setattr(os, function, self._breaking(name, getattr(os, function)))

    def _breaking(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **keywords: Any) -> Any:
            if name == "open for writing" and not args[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return real(*args, **keywords)
            number, self.count = self.count, self.count + 1
            if number < self._failing or (number > self._failing and not self._lasting):
                return real(*args, **keywords)
            self.failed = self.failed or name
            if name == "write":
                real(args[0], bytes(args[1])[: len(args[1]) // 2])
            raise self._how()

        return call
