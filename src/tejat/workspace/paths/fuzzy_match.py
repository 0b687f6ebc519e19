"""Fuzzy matching and ranking of many paths."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from heapq import nsmallest
from itertools import islice
from typing import Protocol, cast

import re2

_MAX_HITS = 100
"""Hits per block that are examined. They come in rank order, best first."""
_WORD_ENDS = frozenset(b"/_-. ")
_LOWER = frozenset(range(ord("a"), ord("z") + 1))
_MIN_SUBSEQUENCE = 2
_FIRST_BLOCKS = 16
_MAX_RANKS_FACTOR = 8
"""How many times the requested matches are kept before only the best are."""


class MatchQuality(IntEnum):
    """Quality of a match, best first."""

    NAME = 0
    """The path ends with the text, at a component boundary."""
    PREFIX = 1
    """The last component begins with the text."""
    WORD_START = 2
    """A word in the path begins with the text."""
    SUBSTRING = 3
    SUBSEQUENCE = 4
    """All letters occur, in this order."""


_CONTAINING = frozenset((MatchQuality.NAME, MatchQuality.PREFIX, MatchQuality.SUBSTRING))


class PathBlock:
    """A block of paths in rank order: shallow and short ones first. Case does not matter."""

    def __init__(self, paths: Iterable[bytes], *, prefix: str = "", are_directories: bool = False) -> None:
        """Directories end with a slash. The prefix is part of results but not matched."""
        ordered = sorted(paths, key=lambda path: (path.count(b"/"), len(path), path))
        self._text = b"".join((b"\n/", b"\n/".join(ordered), b"\n")) if ordered else b"\n"
        lower = self._text.lower()
        self._lower = self._text if lower == self._text else lower
        self._prefix = prefix
        self.are_directories = are_directories

    def find_matches(self, typed: bytes, fit: MatchQuality, limit: int) -> Iterator[tuple[MatchQuality, bytes]]:
        """Yield paths that match with this quality or better, in rank order; a path may come more than once."""
        match fit:
            case MatchQuality.NAME:
                end = b"/\n" if self.are_directories else b"\n"
                yield from ((fit, self._path(hit)) for hit in self._hits(b"/" + typed + end, limit))
            case MatchQuality.PREFIX:
                hits = self._hits(b"/" + typed, 4 * _MAX_HITS)
                in_names = (hit for hit in hits if self._is_in_last_part(hit + 1 + len(typed)))
                yield from ((fit, self._path(hit)) for hit in islice(in_names, limit))
            case MatchQuality.WORD_START | MatchQuality.SUBSTRING:
                for hit in self._hits(typed, _MAX_HITS):
                    found = MatchQuality.WORD_START if self._is_word_start(hit) else MatchQuality.SUBSTRING
                    yield found, self._path(hit)
            case MatchQuality.SUBSEQUENCE:
                starts = _match_starts(_subsequence_regex(typed), self._lower)
                yield from ((fit, self._path(start)) for start in islice(starts, limit))

    def contains(self, typed: bytes) -> bool:
        return typed in self._lower

    def find_beneath(self, directory: bytes, limit: int) -> Iterator[bytes]:
        """Yield paths below a directory, then those below a directory of that name anywhere."""
        yield from (self._path(hit + 1) for hit in self._hits(b"\n/" + directory, limit))
        if directory:
            yield from (self._path(hit) for hit in self._hits(b"/" + directory, limit))

    def with_prefix(self, path: bytes) -> tuple[bool, str]:
        """Return whether there is a prefix, which ranks lower, and the path with it."""
        return bool(self._prefix), self._prefix + path.decode()

    def _hits(self, needle: bytes, limit: int) -> Iterator[int]:
        hit = self._lower.find(needle)
        while hit >= 0 and limit > 0:
            yield hit
            limit -= 1
            hit = self._lower.find(needle, hit + 1)

    def _path(self, hit: int) -> bytes:
        """Return the path at this position, without its leading slash."""
        start = self._text.rfind(b"\n", 0, hit + 1) + 2
        return self._text[start : self._text.find(b"\n", hit + 1)]

    def _is_in_last_part(self, place: int) -> bool:
        """Whether this position is in the last component of its path."""
        end = self._text.find(b"\n", place)
        return self._text.find(b"/", place, end - 1 if self.are_directories else end) < 0

    def _is_word_start(self, hit: int) -> bool:
        before = self._text[hit - 1]
        return before in _WORD_ENDS or (before in _LOWER and self._text[hit] != self._lower[hit])


def rank_paths(blocks: Sequence[PathBlock], typed: str, *, limit: int, is_fuzzy: bool = True) -> list[str]:
    """Return the best matches of all blocks, as `PathRanking` does."""
    ranking = PathRanking(typed, limit=limit, is_fuzzy=is_fuzzy)
    ranking.search(blocks, _never)
    return ranking.best()


_Rank = tuple[int, int, int, int, bool, str]


class PathRanking:
    """The best matches among blocks that can be searched bit by bit: files before directories, shallow and short first.

    If not `is_fuzzy`, all of them contain the text. A text that ends with a slash, or is empty, lists a directory: its
    direct children come first.
    """

    def __init__(self, typed: str, *, limit: int, is_fuzzy: bool = True) -> None:
        self._needle = typed.encode("utf-8", "surrogateescape").lower()
        self._limit = limit
        self._ranks: dict[str, _Rank] = {}
        self._contained: dict[int, bool] = {}
        self._searched: dict[MatchQuality | None, int] = dict.fromkeys(self._list_qualities(is_fuzzy=is_fuzzy), 0)

    def search(self, blocks: Sequence[PathBlock], is_due: Callable[[], bool]) -> bool:
        """Search further until it is due to end, but always the first blocks and one more.

        Returns whether all that matters was searched. The blocks are those of the calls before, in the same order, and
        possibly more.
        """
        # Some blocks first and in all ways, so that there is something to show.
        self._search_up_to(_FIRST_BLOCKS, blocks, _never)
        return self._search_up_to(len(blocks), blocks, is_due)

    def _search_up_to(self, count: int, blocks: Sequence[PathBlock], is_due: Callable[[], bool]) -> bool:
        for quality, searched in self._searched.items():
            for block in islice(blocks, searched, count):
                self._search_block(block, quality)
                self._searched[quality] += 1
                if is_due():
                    return False
            if quality is not None and self._count_up_to(quality) >= self._limit:
                break
        return True

    def best(self) -> list[str]:
        """Return the best matches so far."""
        return [path for *_, path in nsmallest(self._limit, self._ranks.values())]

    def _list_qualities(self, *, is_fuzzy: bool) -> Iterator[MatchQuality | None]:
        if b"\n" in self._needle:
            return
        if not self._needle or self._needle.endswith(b"/"):
            yield None
            return
        yield from (MatchQuality.NAME, MatchQuality.PREFIX, MatchQuality.SUBSTRING)
        if is_fuzzy and len(self._needle) >= _MIN_SUBSEQUENCE:
            yield MatchQuality.SUBSEQUENCE

    def _search_block(self, block: PathBlock, quality: MatchQuality | None) -> None:
        if quality in _CONTAINING and not self._may_contain(block):
            return
        ranks = self._ranks
        new = self._list_directory(block) if quality is None else self._match(block, quality)
        for rank in new:
            ranks[rank[-1]] = min(rank, ranks.get(rank[-1], rank))
        if len(ranks) > _MAX_RANKS_FACTOR * self._limit:
            self._ranks = {rank[-1]: rank for rank in nsmallest(self._limit, ranks.values())}

    def _may_contain(self, block: PathBlock) -> bool:
        """Whether the text is anywhere in the block: one look instead of one for each quality."""
        known = self._contained.get(id(block))
        if known is None:
            known = self._contained[id(block)] = block.contains(self._needle)
        return known

    def _match(self, block: PathBlock, quality: MatchQuality) -> Iterator[_Rank]:
        for found, path in block.find_matches(self._needle, quality, self._limit):
            yield (found, block.are_directories, _depth(path), len(path), *block.with_prefix(path))

    def _list_directory(self, block: PathBlock) -> Iterator[_Rank]:
        for path in block.find_beneath(self._needle, self._limit):
            is_elsewhere = not path.lower().startswith(self._needle)
            if len(path) > len(self._needle):
                yield (is_elsewhere, _depth(path), block.are_directories, len(path), *block.with_prefix(path))

    def _count_up_to(self, quality: MatchQuality) -> int:
        return sum(rank[0] <= quality for rank in self._ranks.values())


def _never() -> bool:
    return False


def _depth(path: bytes) -> int:
    return path.count(b"/", 0, -1)


def _subsequence_regex(typed: bytes) -> bytes:
    """A linear-time pattern for paths that contain all of these letters in order."""
    letters = [rb"\x%02x" % letter for letter in typed]
    return b"(?m)^/" + b"".join(rb"[^%b\n]*%b" % (letter, letter) for letter in letters)


def _match_starts(pattern: bytes, text: bytes) -> Iterator[int]:
    # Match bytes, also those of multi-byte characters.
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
