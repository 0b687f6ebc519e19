"""Notices when a model turns in circles: the same calls with the same results, or the same words over and over."""

import json
import re
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise

from tejat.core.i18n import gettext_lazy
from tejat.core.messages.types import FunctionCall, FunctionResponse, Part

REPETITIONS = 5
"""So often the same steps with the same results are a loop."""
MAX_CYCLE_LENGTH = 5
"""At most so many steps are looked for as one that repeats."""
MAX_AIMLESS_STEPS = 25
"""A loop, too: so many steps in any order that are never more than LONGEST_CYCLE different ones."""

CHUNK_SIZE = 50
CHUNK_REPETITIONS = 10
"""A loop in words: a chunk of so many characters, so many times, close together and at even distances."""
REPEATED_LINES = 100
MAX_BLOCK_LINES = 20
"""A loop in words, too, even in code and lists: so many lines, each the same as the one a block before."""


class LoopDetector:
    """Watches one conversation. It remembers nothing beyond the prompt that is being answered."""

    def __init__(self, *, enabled: bool = True) -> None:
        self._enabled = enabled
        self._steps = _StepHistory()
        self._text = _TextHistory()

    def reset(self) -> None:
        """A new prompt of the person: what was before does not count."""
        self._steps = _StepHistory()
        self._text = _TextHistory()

    def reset_text(self) -> None:
        """What was streamed of this answer is void, or another answer begins."""
        self._text = _TextHistory()

    def check_text(self, delta: str) -> str | None:
        """A sentence about the loop that this piece of an answer closes, or None. After a loop it starts afresh."""
        if not self._enabled:
            return None
        found = self._text.add(delta)
        if found:
            self._text = _TextHistory()
        return found

    def check_calls(self, calls: Sequence[FunctionCall], responses: Sequence[Sequence[Part]]) -> str | None:
        """A sentence about the loop that the calls of one answer close, or None. After a loop it starts afresh.

        What a call came to counts as much as what was asked: waiting for a result that changes is no loop, nor is the
        same test run after another edit.
        """
        if not self._enabled:
            return None
        self._text = _TextHistory()
        found = self._steps.add(calls, responses)
        if found:
            self._steps = _StepHistory()
        return found


class _StepHistory:
    """The answers of one prompt as steps: all calls of an answer, each with its result."""

    def __init__(self) -> None:
        self._cycles = _CycleDetector([length * (REPETITIONS - 1) for length in range(1, MAX_CYCLE_LENGTH + 1)])
        self._recent: deque[Hashable] = deque(maxlen=MAX_AIMLESS_STEPS)
        self._names: deque[str] = deque(maxlen=MAX_CYCLE_LENGTH)

    def add(self, calls: Sequence[FunctionCall], responses: Sequence[Sequence[Part]]) -> str | None:
        step = tuple(_call_and_result(call, response) for call, response in zip(calls, responses, strict=True))
        self._recent.append(step)
        self._names.append(" and ".join(dict.fromkeys(call.name[:64] for call in calls)))
        length = self._cycles.add(step)
        if length == 1:
            return gettext_lazy(
                "{name} was called {times} times in a row with the same arguments and result.",
                name=self._names[-1],
                times=REPETITIONS,
            )
        if length:
            names = ", ".join(list(self._names)[-length:])
            return gettext_lazy(
                "The same {length} steps ({names}) were repeated {times} times with the same results.",
                length=length,
                names=names,
                times=REPETITIONS,
            )
        if len(self._recent) == MAX_AIMLESS_STEPS and len(set(self._recent)) <= MAX_CYCLE_LENGTH:
            return gettext_lazy(
                "The last {count} steps were the same few calls with the same results.", count=MAX_AIMLESS_STEPS
            )
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


class _CycleDetector:
    """Finds out when a sequence has become periodic. `needed` tells, for each length of a period from 1 on, how many
    items in a row must be the same as the one a period before."""

    def __init__(self, needed: Sequence[int]) -> None:
        self._required = needed
        self._matches = [0] * len(needed)
        self._last: deque[Hashable] = deque(maxlen=len(needed))

    def add(self, item: Hashable) -> int:
        """The length of the period that is complete now, or 0."""
        for index, before in enumerate(self._last):
            self._matches[index] = self._matches[index] + 1 if before == item else 0
        self._last.appendleft(item)
        return next((index + 1 for index, same in enumerate(self._matches) if same >= self._required[index]), 0)


_FENCE = r"[ \t]*(```+|~~~+)"
# Lists, headings, quotations, tables and dividers repeat themselves by nature.
_STRUCTURE = r"[ \t]*(?:[-*+•‣◦][ \t]|\d+[.)][ \t]|#{1,6}[ \t]|>|\||\+[-=+]|([-=_*~─═])\1\1)"

_MAX_LINE_LENGTH = 500


class _TextHistory:
    """The text of one answer, as it streams in."""

    def __init__(self) -> None:
        self._line = ""
        self._fence = ""
        self._lines = _CycleDetector([REPEATED_LINES] * MAX_BLOCK_LINES)
        self._prose = _ProseHistory()

    def add(self, delta: str) -> str | None:
        for piece in delta.splitlines(keepends=True):
            if self._prose_repeats(piece):
                return gettext_lazy('The same words were written again and again: "{chunk}"', chunk=self._prose.chunk)
            if piece[-1] in "\r\n" and self._end_line():
                return gettext_lazy(
                    "The same lines were written again and again, {count} lines long.", count=REPEATED_LINES
                )
        return None

    def _prose_repeats(self, piece: str) -> bool:
        self._line = (self._line + piece)[:_MAX_LINE_LENGTH]
        if self._fence or _is_structure(self._line):
            self._prose = _ProseHistory()
            return False
        return self._prose.add(piece)

    def _end_line(self) -> bool:
        fence = _fence_marker(self._line)
        if fence:
            self._fence = _fence_after(self._fence, fence)
        line, self._line = self._line, ""
        return self._lines.add(line.strip()) != 0


def _is_structure(line: str) -> bool:
    first = _first_character(line)
    # Most lines show by it that they are prose.
    if not first or first.isalpha() or first.isspace():
        return False
    return bool(_fence_marker(line) or re.match(_STRUCTURE, line))


def _fence_marker(line: str) -> str:
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


class _ProseHistory:
    """Running text: where each chunk of it has been seen."""

    _MAX_DISTANCE = 5 * CHUNK_SIZE
    _MAX_DISTANCES = 3
    _MAX_CHUNKS = 10_000

    def __init__(self) -> None:
        self.chunk = ""
        self._tail = ""
        self._length = 0
        self._seen: dict[str, tuple[int, ...]] = {}

    def add(self, piece: str) -> bool:
        """Whether the text has become a loop. `chunk` is then what it is about, on one line."""
        text = self._tail + piece
        before = self._length - len(self._tail)
        for end in range(max(CHUNK_SIZE, len(self._tail) + 1), len(text) + 1):
            chunk = text[end - CHUNK_SIZE : end]
            if self._is_repeated(chunk, before + end):
                self.chunk = " ".join(chunk.split())
                return True
        self._length += len(piece)
        self._tail = text[-(CHUNK_SIZE - 1) :]
        if len(self._seen) > self._MAX_CHUNKS:
            oldest = self._length - CHUNK_REPETITIONS * self._MAX_DISTANCE
            self._seen = {chunk: places for chunk, places in self._seen.items() if places[-1] > oldest}
        return False

    def _is_repeated(self, chunk: str, place: int) -> bool:
        places = self._seen.get(chunk)
        if places is None:
            self._seen[chunk] = (place,)
            return False
        if place - places[-1] < CHUNK_SIZE:
            # A row of dots is full of overlapping chunks; only those that stand apart count.
            return False
        places = self._seen[chunk] = (*places, place)[-CHUNK_REPETITIONS:]
        if len(places) < CHUNK_REPETITIONS or place - places[0] > (CHUNK_REPETITIONS - 1) * self._MAX_DISTANCE:
            return False
        return len({later - earlier for earlier, later in pairwise(places)}) <= self._MAX_DISTANCES
