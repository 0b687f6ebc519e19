"""Search for words in the journals of sessions, newest first."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BufferedReader
from unicodedata import normalize

from tejat.app.inspection.history.search_words import SearchWord, fold
from tejat.core.agent.history.matches import MatchPlace, SessionMatch, SessionMatches
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, ngettext
from tejat.core.messages.json_fields import JsonFields
from tejat.core.messages.types import JsonValue
from tejat.engine.sessions.journal_format import MAX_LINE_BYTES, RecordKind, decode_record
from tejat.engine.sessions.session_store import SessionSummary
from tejat.workspace.files.regular_file import regular_file_opener

MAX_MATCHES = 20
"""Matches that are kept of one session."""

_BLOCK_BYTES = 2 << 20
_CONTEXT = 70
_MAX_COUNTED = 1000
_BEGIN = '{{"v":1,"kind":"{kind}",'
_PROMPT, _ENDED, _RESUMED = (
    _BEGIN.format(kind=kind).encode() for kind in (RecordKind.PROMPT, RecordKind.ENDED, RecordKind.RESUMED)
)
_NO_TEXT = b'"shown":"",'
_STAYS = b'"stays":true}\n'
_HEAD_LENGTH = 100


def search_sessions(
    sessions: Sequence[SessionSummary],
    words: Sequence[SearchWord],
    *,
    max_matches: int = MAX_MATCHES,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[SessionMatches]:
    """Yield the sessions in which all words occur, and those that cannot be read, the most recently used first.

    A session is read when its result is asked for. After `is_cancelled` the iterator ends.
    """
    for summary in sorted(sessions, key=lambda each: (each.modified, each.path), reverse=True):
        if is_cancelled():
            return
        try:
            found = _search_session(summary, words, max_matches, is_cancelled)
        except OSError as error:
            problem = _("Could not read this session: {reason}.", reason=error.strerror or error)
            found = _result(summary, problem=problem)
        if found is not None:
            yield found


def _search_session(
    summary: SessionSummary, words: Sequence[SearchWord], max_matches: int, is_cancelled: Callable[[], bool]
) -> SessionMatches | None:
    """Raises OSError."""
    with open(summary.path, "rb", opener=regular_file_opener) as file:
        if not _may_match(file, words, is_cancelled):
            return None
        file.seek(0)
        search = _JournalSearch(words, max_matches)
        for line in iter(lambda: file.readline(MAX_LINE_BYTES), b""):
            if is_cancelled():
                return None
            search.apply_line(line)
    if len(search.occurring) < len(words):
        return None
    skipped = search.damaged
    problem = ngettext("Skipped {count} damaged record.", "Skipped {count} damaged records.", skipped)
    best = sorted(search.matches, key=lambda each: -each.words)
    return _result(summary, tuple(each.match for each in best), search.count, problem if skipped else "")


def _result(
    summary: SessionSummary, matches: tuple[SessionMatch, ...] = (), count: int = 0, problem: str = ""
) -> SessionMatches:
    identity = summary.session_id, summary.title, summary.root, summary.started, summary.modified
    return SessionMatches(*identity, matches, count, problem)


def _may_match(file: BufferedReader, words: Sequence[SearchWord], is_cancelled: Callable[[], bool]) -> bool:
    """Whether all words may occur in the file; False is certain. Memory: a block, or the longest line. Raises OSError.

    Nothing is parsed, so this is as fast as the disk for most sessions.
    """
    missing = list(words)
    while missing and not is_cancelled():
        block = file.read(_BLOCK_BYTES)
        if not block:
            return False
        if not block.endswith(b"\n"):
            block += file.readline(MAX_LINE_BYTES)
        lowered = block.lower()
        missing = [word for word in missing if not word.may_occur(block, lowered)]
    return not missing


class _RatedMatch(Frozen):
    """A match and how many of the words it has."""

    match: SessionMatch
    words: int


class _JournalSearch:
    """The search in one journal."""

    def __init__(self, words: Sequence[SearchWord], max_matches: int) -> None:
        self.matches: list[_RatedMatch] = []
        self.occurring: set[str] = set()
        self.count = self.damaged = 0
        self._words = words
        self._max_matches = max_matches
        self._turn = 0
        self._is_open = False
        self._tools: dict[tuple[str, int], str] = {}

    def apply_line(self, line: bytes) -> None:
        if line.startswith((_ENDED, _RESUMED)):
            self._is_open = False
            return
        if line.startswith(_PROMPT) and not line.endswith(_STAYS):
            # The same rule as in `JournalScan`, so that turns have the same numbers.
            self._turn += not (self._is_open and _NO_TEXT in line[:_HEAD_LENGTH])
            self._is_open = True
        lowered = line.lower()
        # What cannot be looked for in bytes is compared once, when the line has been parsed.
        if any(not word.plain or word.may_occur(line, lowered) for word in self._words):
            try:
                self._search_record(decode_record(line))
            except ValueError:
                self.damaged += 1

    def _search_record(self, record: JsonFields) -> None:
        """Raises ValueError."""
        agent, kind = "", record.string("kind")
        if kind == RecordKind.AGENT:
            agent, record = record.string("agent"), record.nested("record")
            kind = record.string("kind")
        match kind:
            case RecordKind.PROMPT:
                shown = record.string_or_none("shown")
                texts = list(_part_texts(record.nested("message"), MatchPlace.PROMPT))
                # What the user typed is usually the beginning of what the model got.
                if shown and not (texts and shown in texts[0][2]):
                    texts.insert(0, (MatchPlace.PROMPT, "", shown))
            case RecordKind.ANSWER:
                texts = list(_part_texts(record.nested("message"), MatchPlace.ANSWER))
            case RecordKind.RESPONSE:
                texts = list(_part_texts(record, MatchPlace.RESULT))
            case RecordKind.CALL:
                texts = [(MatchPlace.FILE, record.string("name"), record.string_or_none("file") or "")]
            case _:
                return
        for place, tool, text in texts:
            self._search_text(place, tool, text, agent)

    def _search_text(self, place: MatchPlace, tool: str, text: str, agent: str) -> None:
        folded = fold(text)
        found = [word for word in self._words if word.folded in folded]
        if not found:
            return
        self.occurring |= {word.folded for word in found}
        self.count += 1
        if self.count > _MAX_COUNTED or not self._is_better(len(found)):
            return
        position = _position(text, folded, min(folded.index(word.folded) for word in found))
        snippet, marks = make_snippet(text, position, found)
        rated = _RatedMatch(SessionMatch(self._turn, place, snippet, marks, tool, agent), len(found))
        self.matches.append(rated)
        if len(self.matches) > self._max_matches:
            worst = min(range(len(self.matches)), key=lambda index: (self.matches[index].words, -index))
            del self.matches[worst]

    def _is_better(self, words: int) -> bool:
        return len(self.matches) < self._max_matches or any(each.words < words for each in self.matches)


def _part_texts(message: JsonFields, place: MatchPlace) -> Iterator[tuple[MatchPlace, str, str]]:
    """The texts of a message with their places and tools. Raises ValueError."""
    for item in message.items("parts"):
        part = JsonFields(item)
        if part.has("text"):
            if not part.has("thought"):
                yield place, "", part.string("text")
        elif part.has("functionCall"):
            call = part.nested("functionCall")
            name = call.string("name")
            yield MatchPlace.CALL, name, name
            for key, value in call.object("args").items():
                is_path = any(word in key.lower() for word in _PATH_WORDS)
                for text in _strings(value):
                    yield MatchPlace.FILE if is_path else MatchPlace.CALL, name, text
        elif part.has("functionResponse"):
            response = part.nested("functionResponse")
            for text in _strings(response.value("response")):
                yield MatchPlace.RESULT, response.string("name"), text


_PATH_WORDS = ("path", "file")


def _strings(value: JsonValue) -> Iterator[str]:
    """All texts in a value, without recursion: it can be nested deeply."""
    waiting: list[JsonValue] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting += reversed(list(item.values()))
        elif isinstance(item, list):
            waiting += reversed(item)


def _position(text: str, folded: str, place: int) -> int:
    """The position in a text that belongs to one in the folded text, which can have another length."""
    if len(folded) == len(text):
        return place
    low, high = 0, len(text)
    while low < high:
        middle = (low + high) // 2
        if len(fold(text[:middle])) <= place:
            low = middle + 1
        else:
            high = middle
    return max(0, low - 1)


def make_snippet(
    text: str, position: int, words: Iterable[SearchWord], context: int = _CONTEXT
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """One line around a position, and where the words are in it."""
    longest = max(len(word.text) for word in words)
    start, end = max(0, position - context), min(len(text), position + longest + context)
    line = normalize("NFC", " ".join(text[start:end].split()))
    line = ("…" if start else "") + line + ("…" if end < len(text) else "")
    return line, tuple(_marks(line, [word.folded for word in words]))


def _marks(line: str, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The parts of a line that are one of the words, in their order and without overlaps."""
    folded, origins = fold(line), list(range(len(line)))
    if len(folded) != len(line):
        pieces = [fold(character) for character in line]
        folded = "".join(pieces)
        origins = [index for index, piece in enumerate(pieces) for _each in piece]
    places = sorted((place, place + len(word)) for word in words for place in _places(folded, word))
    last = 0
    for start, end in places:
        first, after = origins[start], origins[end - 1] + 1
        if first >= last:
            yield first, after
            last = after


def _places(text: str, word: str) -> Iterator[int]:
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + len(word))
