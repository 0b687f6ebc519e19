"""Detection of loops: the same calls with the same results, or the same text again and again."""

import json
import re
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise

from tejat.core.errors import TejatError
from tejat.core.i18n import lazy
from tejat.core.messages.types import FunctionCall, FunctionResponse, Part

REPETITIONS = 5
"""This many repetitions of the same steps with the same results are a loop."""
MAX_CYCLE_LENGTH = 5
"""The longest cycle of steps that is detected."""
MAX_AIMLESS_STEPS = 25
"""This many steps with at most MAX_CYCLE_LENGTH different ones are a loop, in any order."""

CHUNK_SIZE = 50
CHUNK_REPETITIONS = 10
"""This many repetitions of a chunk, close together and at even distances, are a loop in text."""
REPEATED_LINES = 100
MAX_BLOCK_LINES = 20
"""The longest block of lines that is detected when it repeats for REPEATED_LINES, even in code and lists."""
LOOP_WARNING = (
    "System: Potential loop detected. Details: {detail} Look at what you have tried so far, and take another way "
    "or say what keeps you from going on."
)
"""What the model is told the first time."""


class LoopError(TejatError):
    """The model kept repeating itself after a warning."""


class LoopDetector:
    """Detects loops within the answers to one prompt."""

    def __init__(self, *, enabled: bool = True) -> None:
        self._enabled = enabled
        self.reset()

    def reset(self) -> None:
        """Start over for a new prompt."""
        self._steps = _StepHistory()
        self._text = _TextHistory()

    def reset_text(self) -> None:
        """Forget the streamed text: the attempt is void, or another answer begins."""
        self._text = _TextHistory()

    def check_text(self, delta: str) -> str | None:
        """Return a description of the loop that this piece of text completes, or None."""
        if not self._enabled:
            return None
        found = self._text.add(delta)
        if found:
            self._text = _TextHistory()
        return found

    def check_calls(self, calls: Sequence[FunctionCall], responses: Sequence[Sequence[Part]]) -> str | None:
        """Return a description of the loop that the calls of one answer complete, or None.

        The results count as much as the calls: polling for a result that changes is no loop, nor is the same test run
        after another edit.
        """
        if not self._enabled:
            return None
        self._text = _TextHistory()
        found = self._steps.add(calls, responses)
        if found:
            self._steps = _StepHistory()
        return found


class _StepHistory:
    """The answers to one prompt as steps: all calls of an answer with their results."""

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
            return lazy(
                "{name} was called {times} times in a row with the same arguments and result.",
                name=self._names[-1],
                times=REPETITIONS,
            )
        if length:
            names = ", ".join(list(self._names)[-length:])
            return lazy(
                "The same {length} steps ({names}) were repeated {times} times with the same results.",
                length=length,
                names=names,
                times=REPETITIONS,
            )
        if len(self._recent) == MAX_AIMLESS_STEPS and len(set(self._recent)) <= MAX_CYCLE_LENGTH:
            return lazy(
                "The last {count} steps were the same few calls with the same results.", count=MAX_AIMLESS_STEPS
            )
        return None


def _call_and_result(call: FunctionCall, response: Sequence[Part]) -> Hashable:
    """Return equal keys for equal calls with equal results. Ids are ignored."""
    try:
        return call.name, _digest(call.args), tuple(map(_part_digest, response))
    except (RecursionError, TypeError, ValueError):
        # What cannot be compared equals nothing else.
        return object()


def _part_digest(part: Part) -> int:
    return hash((part.name, _digest(part.response))) if isinstance(part, FunctionResponse) else hash(part)


def _digest(members: Mapping[str, object]) -> int:
    # A shortcut for texts, which most values are. Numbers need JSON: 1 and True are equal but not the same.
    if all(type(member) is str for member in members.values()):
        return hash(frozenset(members.items()))
    return hash(json.dumps(members, sort_keys=True, default=repr))


class _CycleDetector:
    """Detects when a sequence becomes periodic.

    `required` holds, for each period from 1 on, how many items in a row must equal the one a period before.
    """

    def __init__(self, needed: Sequence[int]) -> None:
        self._required = needed
        self._matches = [0] * len(needed)
        self._last: deque[Hashable] = deque(maxlen=len(needed))

    def add(self, item: Hashable) -> int:
        """Return the length of the period that is complete now, or 0."""
        for index, before in enumerate(self._last):
            self._matches[index] = self._matches[index] + 1 if before == item else 0
        self._last.appendleft(item)
        return next((index + 1 for index, same in enumerate(self._matches) if same >= self._required[index]), 0)


_FENCE = r"[ \t]*(```+|~~~+)"
# Lists, headings, quotations, tables, dividers and drawings are repetitive by nature.
_BOX_DRAWING = "\u2500-\u259f"
_STRUCTURE = rf"[ \t]*(?:[-*+•‣◦][ \t]|\d+[.)][ \t]|#{{1,6}}[ \t]|>|\||\+[-=+]|[{_BOX_DRAWING}]|([-=_*~])\1\1)"
_DRAWING = rf"[\s{_BOX_DRAWING}]*"

_MAX_LINE_LENGTH = 500


class _TextHistory:
    """The text of one answer, as it is streamed."""

    def __init__(self) -> None:
        self._line = ""
        self._fence = ""
        self._lines = _CycleDetector([REPEATED_LINES] * MAX_BLOCK_LINES)
        self._prose = _ProseHistory()

    def add(self, delta: str) -> str | None:
        for piece in delta.splitlines(keepends=True):
            if self._prose_repeats(piece):
                return lazy('The same text was repeated: "{chunk}"', chunk=self._prose.chunk)
            if piece[-1] in "\r\n" and self._end_line():
                return lazy("The same {count} lines were repeated.", count=REPEATED_LINES)
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
    # The first character is enough for most prose.
    if not first or first.isalpha() or first.isspace():
        return False
    return bool(_fence_marker(line) or re.match(_STRUCTURE, line))


def _fence_marker(line: str) -> str:
    """Return the marker that opens or closes a code block, empty if there is none."""
    found = re.match(_FENCE, line) if _first_character(line) in ("`", "~") else None
    return found.group(1) if found else ""


def _first_character(line: str) -> str:
    return line.lstrip(" \t")[:1]


def _fence_after(open_fence: str, mark: str) -> str:
    """Return the open fence after a marker. A block ends at a marker like its first, at least as long."""
    if not open_fence:
        return mark
    return "" if mark.startswith(open_fence) else open_fence


class _ProseHistory:
    """Running text and the positions of its chunks.

    To look up the chunk at every character would take longer than all other work on an answer. A chunk that occurs
    CHUNK_REPETITIONS times within `_REACH` characters holds a sample: a piece of the text that begins at a multiple of
    `_SAMPLE` and occurs as often. So chunks are looked up only around such samples.
    """

    _MAX_DISTANCE = 5 * CHUNK_SIZE
    _MAX_DISTANCES = 3
    _REACH = (CHUNK_REPETITIONS - 1) * _MAX_DISTANCE + CHUNK_SIZE
    _SAMPLE = CHUNK_SIZE // 2
    _BLOCK = 4 * _REACH
    _MAX_CHUNKS = 10_000

    def __init__(self) -> None:
        self.chunk = ""
        self._text = ""
        """The latest text, at least `_REACH` characters of it."""
        self._begin = 0
        """The position of that text in the whole."""
        self._sampled = 0
        """The position from which there are no samples yet."""
        self._looked_up = 0
        """The position up to which chunks were looked up."""
        self._suspected = 0
        """The position up to which chunks are to be looked up."""
        self._seen: dict[str, tuple[int, ...]] = {}

    def add(self, piece: str) -> bool:
        """Whether the text has become a loop. `chunk` then holds the repeated text."""
        return any(self._add(piece[start : start + self._BLOCK]) for start in range(0, len(piece), self._BLOCK))

    def _add(self, piece: str) -> bool:
        if len(self._text) > self._BLOCK:
            self._begin += len(self._text) - self._REACH
            self._text = self._text[-self._REACH :]
        self._text += piece
        end = self._begin + len(self._text)
        while self._sampled + self._SAMPLE <= end:
            self._sampled += self._SAMPLE
            if self._is_frequent(self._sampled - self._begin):
                self._suspect(self._sampled)
        return self._has_repeated_chunk(min(end, self._suspected))

    def _is_frequent(self, end: int) -> bool:
        """Whether the sample that ends here occurs often enough before."""
        sample = self._text[end - self._SAMPLE : end]
        begin = max(0, end - self._REACH)
        # Most samples occur once.
        if self._text.find(sample, begin, end - self._SAMPLE) < 0:
            return False
        return self._text.count(sample, begin, end) >= CHUNK_REPETITIONS

    def _suspect(self, end: int) -> None:
        """Look up the chunks of the last `_REACH` characters before a sample, and as many after it."""
        if end - self._REACH > self._looked_up:
            self._looked_up = max(0, end - self._REACH)
            self._seen = {}
        self._suspected = end + self._REACH

    def _has_repeated_chunk(self, until: int) -> bool:
        for end in range(max(self._looked_up, self._begin) + 1, until + 1):
            chunk = self._text[max(0, end - CHUNK_SIZE - self._begin) : end - self._begin]
            if len(chunk) == CHUNK_SIZE and self._is_repeated(chunk, end):
                self.chunk = " ".join(chunk.split())
                return True
        self._looked_up = max(self._looked_up, until)
        if len(self._seen) > self._MAX_CHUNKS:
            oldest = until - self._REACH
            self._seen = {chunk: places for chunk, places in self._seen.items() if places[-1] > oldest}
        return False

    def _is_repeated(self, chunk: str, place: int) -> bool:
        places = self._seen.get(chunk)
        if places is None:
            self._seen[chunk] = (place,)
            return False
        # Overlapping chunks, as in a row of dots, do not count, nor does a drawing in the middle of a line.
        if place - places[-1] < CHUNK_SIZE or re.fullmatch(_DRAWING, chunk):
            return False
        places = self._seen[chunk] = (*places, place)[-CHUNK_REPETITIONS:]
        if len(places) < CHUNK_REPETITIONS or place - places[0] > (CHUNK_REPETITIONS - 1) * self._MAX_DISTANCE:
            return False
        return len({later - earlier for earlier, later in pairwise(places)}) <= self._MAX_DISTANCES
