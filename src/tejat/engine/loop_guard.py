"""Notices when a model turns in circles: the same calls with the same results, or the same words over and over."""

import json
import re
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise

from tejat.core.types import FunctionCall, FunctionResponse, Part
from tejat.core.words import phrase

REPETITIONS = 5
"""So often the same steps with the same results are a loop."""
LONGEST_CYCLE = 5
"""At most so many steps are looked for as one that repeats."""
AIMLESS_STEPS = 25
"""A loop, too: so many steps in any order that are never more than LONGEST_CYCLE different ones."""

CHUNK = 50
CHUNK_REPETITIONS = 10
"""A loop in words: a chunk of so many characters, so many times, close together and at even distances."""
REPEATED_LINES = 100
LONGEST_BLOCK = 20
"""A loop in words, too, even in code and lists: so many lines, each the same as the one a block before."""


class LoopGuard:
    """Watches one conversation. It remembers nothing beyond the prompt that is being answered."""

    def __init__(self, *, is_on: bool = True) -> None:
        self._is_on = is_on
        self._steps = _Steps()
        self._text = _TextWatch()

    def start(self) -> None:
        """A new prompt of the person: what was before does not count."""
        self._steps = _Steps()
        self._text = _TextWatch()

    def forget_text(self) -> None:
        """What was streamed of this answer is void, or another answer begins."""
        self._text = _TextWatch()

    def saw_text(self, delta: str) -> str | None:
        """A sentence about the loop that this piece of an answer closes, or None. After a loop it starts afresh."""
        if not self._is_on:
            return None
        found = self._text.add(delta)
        if found:
            self._text = _TextWatch()
        return found

    def saw_calls(self, calls: Sequence[FunctionCall], responses: Sequence[Sequence[Part]]) -> str | None:
        """A sentence about the loop that the calls of one answer close, or None. After a loop it starts afresh.

        What a call came to counts as much as what was asked: waiting for a result that changes is no loop, nor is the
        same test run after another edit.
        """
        if not self._is_on:
            return None
        self._text = _TextWatch()
        found = self._steps.add(calls, responses)
        if found:
            self._steps = _Steps()
        return found


class _Steps:
    """The answers of one prompt as steps: all calls of an answer, each with its result."""

    def __init__(self) -> None:
        self._cycles = _Cycles([length * (REPETITIONS - 1) for length in range(1, LONGEST_CYCLE + 1)])
        self._recent: deque[Hashable] = deque(maxlen=AIMLESS_STEPS)
        self._names: deque[str] = deque(maxlen=LONGEST_CYCLE)

    def add(self, calls: Sequence[FunctionCall], responses: Sequence[Sequence[Part]]) -> str | None:
        step = tuple(_call_and_result(call, response) for call, response in zip(calls, responses, strict=True))
        self._recent.append(step)
        self._names.append(" and ".join(dict.fromkeys(call.name[:64] for call in calls)))
        length = self._cycles.add(step)
        if length == 1:
            return phrase(
                "{name} was called {times} times in a row with the same arguments and result.",
                name=self._names[-1],
                times=REPETITIONS,
            )
        if length:
            names = ", ".join(list(self._names)[-length:])
            return phrase(
                "The same {length} steps ({names}) were repeated {times} times with the same results.",
                length=length,
                names=names,
                times=REPETITIONS,
            )
        if len(self._recent) == AIMLESS_STEPS and len(set(self._recent)) <= LONGEST_CYCLE:
            return phrase("The last {count} steps were the same few calls with the same results.", count=AIMLESS_STEPS)
        return None


def _call_and_result(call: FunctionCall, response: Sequence[Part]) -> Hashable:
    """Equal for two calls that ask the same and get the same. Ids differ from call to call and do not count."""
    try:
        return call.name, _digest(call.args), tuple(map(_part_digest, response))
    except (RecursionError, TypeError, ValueError):
        # What cannot be compared is like nothing else.
        return object()


def _part_digest(part: Part) -> int:
    return hash((part.name, _digest(part.response))) if isinstance(part, FunctionResponse) else hash(part)


def _digest(members: Mapping[str, object]) -> int:
    # Texts, which most arguments and results are, need not be written out. Numbers do: some are equal but not the same.
    if all(type(member) is str for member in members.values()):
        return hash(frozenset(members.items()))
    return hash(json.dumps(members, sort_keys=True, default=repr))


class _Cycles:
    """Finds out when a sequence has become periodic. `needed` tells, for each length of a period from 1 on, how many
    items in a row must be the same as the one a period before."""

    def __init__(self, needed: Sequence[int]) -> None:
        self._needed = needed
        self._same = [0] * len(needed)
        self._last: deque[Hashable] = deque(maxlen=len(needed))

    def add(self, item: Hashable) -> int:
        """The length of the period that is complete now, or 0."""
        for index, before in enumerate(self._last):
            self._same[index] = self._same[index] + 1 if before == item else 0
        self._last.appendleft(item)
        return next((index + 1 for index, same in enumerate(self._same) if same >= self._needed[index]), 0)


_FENCE = r"[ \t]*(```+|~~~+)"
# Lists, headings, quotations, tables and dividers repeat themselves by nature.
_STRUCTURE = r"[ \t]*(?:[-*+•‣◦][ \t]|\d+[.)][ \t]|#{1,6}[ \t]|>|\||\+[-=+]|([-=_*~─═])\1\1)"

_LONGEST_LINE = 500


class _TextWatch:
    """The text of one answer, as it streams in."""

    def __init__(self) -> None:
        self._line = ""
        self._fence = ""
        self._lines = _Cycles([REPEATED_LINES] * LONGEST_BLOCK)
        self._prose = _Prose()

    def add(self, delta: str) -> str | None:
        for piece in delta.splitlines(keepends=True):
            if self._prose_repeats(piece):
                return phrase('The same words were written again and again: "{chunk}"', chunk=self._prose.chunk)
            if piece[-1] in "\r\n" and self._end_line():
                return phrase("The same lines were written again and again, {count} lines long.", count=REPEATED_LINES)
        return None

    def _prose_repeats(self, piece: str) -> bool:
        self._line = (self._line + piece)[:_LONGEST_LINE]
        if self._fence or _is_structure(self._line):
            self._prose = _Prose()
            return False
        return self._prose.add(piece)

    def _end_line(self) -> bool:
        fence = _fence_of(self._line)
        if fence:
            self._fence = _fence_after(self._fence, fence)
        line, self._line = self._line, ""
        return self._lines.add(line.strip()) != 0


def _is_structure(line: str) -> bool:
    first = _first_character(line)
    # Most lines show by it that they are prose.
    if not first or first.isalpha() or first.isspace():
        return False
    return bool(_fence_of(line) or re.match(_STRUCTURE, line))


def _fence_of(line: str) -> str:
    """The mark that a block of code begins or ends with, empty if there is none."""
    found = re.match(_FENCE, line) if _first_character(line) in ("`", "~") else None
    return found.group(1) if found else ""


def _first_character(line: str) -> str:
    return line.lstrip(" \t")[:1]


def _fence_after(open_fence: str, mark: str) -> str:
    """A block of code ends at a mark like the one that began it, and at least as long."""
    if not open_fence:
        return mark
    return "" if mark.startswith(open_fence) else open_fence


class _Prose:
    """Running text: where each chunk of it has been seen."""

    _FARTHEST = 5 * CHUNK
    _MOST_DISTANCES = 3
    _MOST_CHUNKS = 10_000

    def __init__(self) -> None:
        self.chunk = ""
        self._tail = ""
        self._length = 0
        self._seen: dict[str, tuple[int, ...]] = {}

    def add(self, piece: str) -> bool:
        """Whether the text has become a loop. `chunk` is then what it is about, on one line."""
        text = self._tail + piece
        before = self._length - len(self._tail)
        for end in range(max(CHUNK, len(self._tail) + 1), len(text) + 1):
            chunk = text[end - CHUNK : end]
            if self._is_often(chunk, before + end):
                self.chunk = " ".join(chunk.split())
                return True
        self._length += len(piece)
        self._tail = text[-(CHUNK - 1) :]
        if len(self._seen) > self._MOST_CHUNKS:
            oldest = self._length - CHUNK_REPETITIONS * self._FARTHEST
            self._seen = {chunk: places for chunk, places in self._seen.items() if places[-1] > oldest}
        return False

    def _is_often(self, chunk: str, place: int) -> bool:
        places = self._seen.get(chunk)
        if places is None:
            self._seen[chunk] = (place,)
            return False
        if place - places[-1] < CHUNK:
            # A row of dots is full of overlapping chunks; only those that stand apart count.
            return False
        places = self._seen[chunk] = (*places, place)[-CHUNK_REPETITIONS:]
        if len(places) < CHUNK_REPETITIONS or place - places[0] > (CHUNK_REPETITIONS - 1) * self._FARTHEST:
            return False
        return len({later - earlier for earlier, later in pairwise(places)}) <= self._MOST_DISTANCES
