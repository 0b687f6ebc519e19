"""Which of very many paths fit best what somebody typed of one."""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from heapq import nsmallest
from itertools import islice
from typing import Protocol, cast

import re2

_MOST_HITS = 100
"""Hits in one block that are looked at more closely. They come in the order of rank, the best first."""
_WORD_ENDS = frozenset(b"/_-. ")
_LOWER = frozenset(range(ord("a"), ord("z") + 1))
_SHORTEST_SPREAD = 2


class Fit(IntEnum):
    """How well a path fits, the best first."""

    NAME = 0
    """It ends with the whole of it."""
    BEGINNING = 1
    """Its last part begins with it."""
    WORD = 2
    """A word in it begins with it."""
    INSIDE = 3
    SPREAD = 4
    """All letters are there, in this order."""


class Paths:
    """A block of paths, shallow and short ones first. They hold neither line ends nor upper case that matters."""

    def __init__(self, paths: Iterable[bytes], *, prefix: str = "", are_directories: bool = False) -> None:
        """Directories have a slash at their ends. The prefix is part of what is found and not of what is looked for."""
        ordered = sorted(paths, key=lambda path: (path.count(b"/"), len(path), path))
        self._text = b"".join((b"\n/", b"\n/".join(ordered), b"\n")) if ordered else b"\n"
        lower = self._text.lower()
        self._lower = self._text if lower == self._text else lower
        self._prefix = prefix
        self.are_directories = are_directories

    def fitting(self, typed: bytes, fit: Fit, most: int) -> Iterator[tuple[Fit, bytes]]:
        """Paths that fit so, or better, in the order of their rank; a path may come more than once."""
        match fit:
            case Fit.NAME:
                end = b"/\n" if self.are_directories else b"\n"
                yield from ((fit, self._path(hit)) for hit in self._hits(b"/" + typed + end, most))
            case Fit.BEGINNING:
                hits = (hit for hit in self._hits(b"/" + typed, 4 * _MOST_HITS) if self._is_last(hit + 1 + len(typed)))
                yield from ((fit, self._path(hit)) for hit in islice(hits, most))
            case Fit.WORD | Fit.INSIDE:
                for hit in self._hits(typed, _MOST_HITS):
                    yield (Fit.WORD if self._is_word(hit) else Fit.INSIDE), self._path(hit)
            case Fit.SPREAD:
                yield from ((fit, self._path(start)) for start in islice(_starts(_spread(typed), self._lower), most))

    def beneath(self, directory: bytes, most: int) -> Iterator[bytes]:
        """Paths that begin with a directory, or are in one that is called so anywhere; the former first."""
        yield from (self._path(hit + 1) for hit in self._hits(b"\n/" + directory, most))
        if directory:
            yield from (self._path(hit) for hit in self._hits(b"/" + directory, most))

    def named(self, path: bytes) -> tuple[bool, str]:
        """Whether there is a prefix, which comes after what needs none, and the path with it."""
        return bool(self._prefix), self._prefix + path.decode()

    def _hits(self, wanted: bytes, most: int) -> Iterator[int]:
        hit = self._lower.find(wanted)
        while hit >= 0 and most > 0:
            yield hit
            most -= 1
            hit = self._lower.find(wanted, hit + 1)

    def _path(self, hit: int) -> bytes:
        """The path that this place is in, without the slash before it."""
        start = self._text.rfind(b"\n", 0, hit + 1) + 2
        return self._text[start : self._text.find(b"\n", hit + 1)]

    def _is_last(self, place: int) -> bool:
        """Whether this place is in the last part of its path."""
        end = self._text.find(b"\n", place)
        return self._text.find(b"/", place, end - 1 if self.are_directories else end) < 0

    def _is_word(self, hit: int) -> bool:
        before = self._text[hit - 1]
        return before in _WORD_ENDS or (before in _LOWER and self._text[hit] != self._lower[hit])


def best_paths(blocks: Sequence[Paths], typed: str, *, most: int) -> list[str]:
    """The paths that fit best, files before directories that fit as well, shallow and short ones first.

    What ends with a slash, or is empty, is a directory to look into: what lies directly in it comes first.
    """
    wanted = typed.encode("utf-8", "surrogateescape").lower()
    if b"\n" in wanted:
        return []
    if not wanted or wanted.endswith(b"/"):
        return _looked_into(blocks, wanted, most)
    ranks: dict[str, _Rank] = {}
    for fit in (Fit.NAME, Fit.BEGINNING, Fit.INSIDE, Fit.SPREAD):
        if fit is Fit.SPREAD and len(wanted) < _SHORTEST_SPREAD:
            break
        for block in blocks:
            for found, path in block.fitting(wanted, fit, most):
                rank = (found, block.are_directories, _depth(path), len(path), *block.named(path))
                ranks[rank[-1]] = min(rank, ranks.get(rank[-1], rank))
        if len(ranks) >= most:
            break
    return _best(ranks.values(), most)


_Rank = tuple[int, int, int, int, bool, str]


def _looked_into(blocks: Sequence[Paths], directory: bytes, most: int) -> list[str]:
    ranks: dict[str, _Rank] = {}
    for block in blocks:
        for path in block.beneath(directory, most):
            is_elsewhere = not path.lower().startswith(directory)
            if len(path) > len(directory):
                rank = (is_elsewhere, _depth(path), block.are_directories, len(path), *block.named(path))
                ranks[rank[-1]] = rank
    return _best(ranks.values(), most)


def _best(ranks: Iterable[_Rank], most: int) -> list[str]:
    return [path for *_, path in nsmallest(most, ranks)]


def _depth(path: bytes) -> int:
    return path.count(b"/", 0, -1)


def _spread(typed: bytes) -> bytes:
    """The pattern of a path that has all of these letters, which matches in one go."""
    letters = [rb"\x%02x" % letter for letter in typed]
    return b"(?m)^/" + b"".join(rb"[^%b\n]*%b" % (letter, letter) for letter in letters)


def _starts(pattern: bytes, text: bytes) -> Iterator[int]:
    # A byte is a byte, also one of a longer character.
    options = _re2.Options()
    options.encoding = options.Encoding.LATIN1
    return (found.start() for found in _re2.finditer(pattern, text, options))


class _Encoding(Protocol):
    LATIN1: object


class _Options(Protocol):
    encoding: object

    @property
    def Encoding(self) -> _Encoding: ...  # noqa: N802 - its name there


class _Re2(Protocol):
    # The package has no types of its own.
    def Options(self) -> _Options: ...  # noqa: N802
    def finditer(self, pattern: bytes, text: bytes, options: _Options) -> Iterator[re.Match[bytes]]: ...


_re2 = cast(_Re2, re2)
