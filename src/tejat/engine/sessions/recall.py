"""Recall of earlier parts of a conversation: by text, by message and by turn."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.messages.history import Message
from tejat.core.messages.tool_names import RECALL
from tejat.core.messages.types import FunctionCall, FunctionResponse
from tejat.core.tools.recall import RecalledPart, RecallQuery
from tejat.engine.loop.archive import NumberedMessage
from tejat.engine.loop.conversation import Conversation
from tejat.engine.loop.transcript import render_message, truncate_middle

MAX_CHARACTERS = 16_000
"""What one call returns, about."""

_MAX_MESSAGE = 3_000
_MAX_MATCHES = 10
_MAX_EXCERPTS = 3
_EXCERPT_CONTEXT = 200
_MAX_TITLE = 100


class _Entry(NamedTuple):
    """A message as text, without calls of `recall` itself."""

    numbered: NumberedMessage
    text: str

    @property
    def heading(self) -> str:
        return f"--- message {self.numbered.number}, turn {self.numbered.turn} ---"


class ConversationRecall:
    """Fetches parts of a conversation. `mask` hides secrets, as in the journal."""

    def __init__(self, conversation: Conversation, mask: Callable[[str], str], *, is_saved: bool) -> None:
        self._conversation = conversation
        self._mask = mask
        self._is_saved = is_saved

    def __call__(self, query: RecallQuery) -> RecalledPart:
        """Raises ToolFailure for numbers that do not exist."""
        entries = list(self._entries())
        selected = _select(entries, query)
        if query.text:
            text, count = _search(selected, query.text)
        elif query.messages or query.turns:
            text, count = _read(selected)
        else:
            text, count = self._overview(entries)
        notes = self._missing_note()
        return RecalledPart(self._mask(f"{text}\n\n{notes}" if notes else text), count)

    def _entries(self) -> Iterator[_Entry]:
        for numbered in self._conversation.archive.numbered(self._conversation.history.messages):
            text = render_message(_without_recall(numbered.message))
            if text:
                yield _Entry(numbered, text)

    def _overview(self, entries: Sequence[_Entry]) -> tuple[str, int]:
        """List the turns with their requests; the oldest are left out if there are too many."""
        turns: dict[int, list[_Entry]] = {}
        for entry in entries:
            turns.setdefault(entry.numbered.turn, []).append(entry)
        lines = [_turn_line(turn, members) for turn, members in turns.items()]
        kept = _fit(reversed(lines))
        dropped = len(lines) - len(kept)
        head = [f"[{dropped} older turns are left out. Use text or turns to find them.]"] if dropped else []
        return "\n".join([*head, *reversed(kept)]) or "There are no messages yet.", len(kept)

    def _missing_note(self) -> str:
        """Return what is not kept, empty if everything is."""
        forgotten = self._conversation.archive.forgotten
        notes = [f"Messages 1 to {forgotten} are not kept any more."] if forgotten else []
        if not self._is_saved:
            notes.append("This session is not saved: nothing from before this run is kept.")
        return " ".join(notes)


def _without_recall(message: Message) -> Message:
    """The message without what was recalled before, which would be found again and again."""
    if not any(part.name == RECALL for part in (*message.calls, *message.responses)):
        return message
    parts = tuple(
        part
        for part in message.parts
        if not (isinstance(part, FunctionCall | FunctionResponse) and part.name == RECALL)
    )
    return Message(message.role, parts)


def _select(entries: Sequence[_Entry], query: RecallQuery) -> list[_Entry]:
    """Return the messages in the range of a query. Raises ToolFailure if there are none."""
    span = query.messages or query.turns
    if span is None:
        return list(entries)
    first, last = span
    selected = [
        entry
        for entry in entries
        if first <= (entry.numbered.number if query.messages else entry.numbered.turn) <= last
    ]
    if not selected:
        numbers = [entry.numbered.number if query.messages else entry.numbered.turn for entry in entries]
        what = "messages" if query.messages else "turns"
        available = f"{what} {min(numbers)} to {max(numbers)}" if numbers else f"no {what}"
        raise ToolFailure(f"Nothing found: there are {available}.", ErrorType.INVALID_TOOL_PARAMS)
    return selected


def _search(entries: Sequence[_Entry], text: str) -> tuple[str, int]:
    """Return excerpts around a text, or around its words if it does not occur as a whole. The latest come first."""
    matching = [entry for entry in entries if text.casefold() in entry.text.casefold()]
    words = [text]
    if not matching:
        words = text.split()
        matching = [entry for entry in entries if all(word.casefold() in entry.text.casefold() for word in words)]
    if not matching:
        return f"No message contains {text!r}. Try other words, or call without arguments for a list of turns.", 0
    shown = matching[: -_MAX_MATCHES - 1 : -1]
    texts = _fit("\n".join([entry.heading, *_excerpts(entry.text, words)]) for entry in shown)
    note = f"{len(matching)} messages contain {text!r}"
    note += f", the latest {len(texts)} first:" if len(texts) < len(matching) else ", the latest first:"
    return "\n\n".join([note, *texts]), len(matching)


def _excerpts(text: str, words: Sequence[str]) -> Iterator[str]:
    """Yield the surroundings of the first places of each word, without overlaps."""
    folded, end, count = text.casefold(), 0, 0
    places = sorted(place for word in words for place in _places(folded, word.casefold()))
    for place in places:
        if place < end or count == _MAX_EXCERPTS:
            continue
        start, end = max(end, place - _EXCERPT_CONTEXT), place + len(words[0]) + _EXCERPT_CONTEXT
        before, after = "..." if start else "", "..." if end < len(text) else ""
        yield f"{before}{text[start:end].strip()}{after}"
        count += 1


def _places(text: str, word: str) -> Iterator[int]:
    place = text.find(word)
    for _ in range(_MAX_EXCERPTS):
        if place < 0:
            return
        yield place
        place = text.find(word, place + len(word) + _EXCERPT_CONTEXT)


def _read(entries: Sequence[_Entry]) -> tuple[str, int]:
    """Return whole messages as far as they fit, long ones cut."""
    longest = MAX_CHARACTERS if len(entries) == 1 else _MAX_MESSAGE
    texts = _fit(f"{entry.heading}\n{truncate_middle(entry.text, longest)}" for entry in entries)
    left = entries[len(texts) :]
    more = [f"[Continue with messages {left[0].numbered.number}-{left[-1].numbered.number}.]"] if left else []
    return "\n\n".join([*texts, *more]), len(texts)


def _fit(texts: Iterable[str]) -> list[str]:
    """Return the first texts that fit into one result, and at least one."""
    kept: list[str] = []
    length = 0
    for text in texts:
        length += len(text)
        if kept and length > MAX_CHARACTERS:
            break
        kept.append(text)
    return kept


def _turn_line(turn: int, members: Sequence[_Entry]) -> str:
    first, last = members[0].numbered.number, members[-1].numbered.number
    title = " ".join(members[0].numbered.message.text.split())
    title = title if len(title) <= _MAX_TITLE else f"{title[:_MAX_TITLE]}..."
    span = f"message {first}" if first == last else f"messages {first}-{last}"
    return f"turn {turn}, {span}: {title}"
