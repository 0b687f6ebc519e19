"""Tells in few words which tools there are, where telling of each would take too many."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby

from tejat.core.tokens import estimate_text
from tejat.core.value import value
from tejat.tools.registry import Entry
from tejat.tools.tool_search import EMPTY_WORDS, stems_of

MOST_TOKENS = 1_800

_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 100
_MOST_WORDS = 24
_PLAIN = re.compile(r"[\w.:-]+")
_MORE_TOKENS = 16
"""For the line that tells how many are left out."""


def index_of(
    entries: Sequence[Entry], description_of_server: Callable[[str], str], *, most_tokens: int = MOST_TOKENS
) -> str:
    """A line for each server with the names of its tools, or how many they are and what they are about.

    The same tools make the same text. It has at most `most_tokens` tokens, however many there are.
    """
    groups = [
        _Group.of(title, list(members), description_of_server) for title, members in groupby(entries, key=_title_of)
    ]
    heads = _fitting(groups, most_tokens)
    common = _common(groups)
    is_cut = len(heads) < len(groups)
    left = most_tokens - sum(head.cost for head in heads) - (_MORE_TOKENS if is_cut else 0)
    lines = [head.text for head in heads]
    # Those with few tools first: what they leave of their share is for the others.
    for done, at in enumerate(sorted(range(len(heads)), key=lambda at: heads[at].group.names_cost)):
        detail = heads[at].group.detail(left // (len(heads) - done), common)
        lines[at] += detail
        left -= estimate_text(detail)
    if is_cut:
        lines.append(f"and {len(groups) - len(heads)} more, which a query finds too")
    return "\n".join(lines)


def _title_of(entry: Entry) -> str:
    return entry.server or entry.source.value


@value
class _Group:
    """The tools of one server, or of one source that has none."""

    title: str
    description: str
    names: tuple[str, ...]
    names_cost: int

    @classmethod
    def of(cls, title: str, members: Sequence[Entry], description_of_server: Callable[[str], str]) -> "_Group":
        names = tuple(_name_of(member) for member in members)
        described = description_of_server(members[0].server) if members[0].server else ""
        return cls(_one_line(title, _LONGEST_NAME), _one_line(described, _LONGEST_DESCRIPTION), names, _cost(names))

    def head(self, *, with_description: bool) -> str:
        count = "1 tool" if len(self.names) == 1 else f"{len(self.names)} tools"
        described = f", {self.description}" if with_description and self.description else ""
        return f"{self.title} ({count}{described})"

    @property
    def stems(self) -> Counter[str]:
        """How many of the names have each word."""
        return Counter(stem for name in self.names for stem in set(stems_of(name)) - EMPTY_WORDS)

    def detail(self, room: int, common: frozenset[str]) -> str:
        """The names if there is room for them, else the words that most of them have, and other groups have not."""
        if self.names_cost <= room:
            return _listed(": ", self.names)
        stems = sorted(self.stems.items(), key=lambda pair: (pair[0] in common, -pair[1], pair[0]))
        words = list(dict.fromkeys(_whole(stem, self.names) for stem, _ in stems[:_MOST_WORDS]))
        while words and _cost(words, _ABOUT) > room:
            words.pop()
        return _listed(_ABOUT, words) if words else ""


@value
class _Head:
    group: _Group
    text: str
    cost: int


def _common(groups: Sequence[_Group]) -> frozenset[str]:
    """The words that do not tell one group from another, such as `list` and `get`."""
    counted = Counter(stem for group in groups for stem in group.stems)
    return frozenset(stem for stem, count in counted.items() if count > max(2, len(groups) / 3))


def _fitting(groups: Sequence[_Group], room: int) -> list[_Head]:
    """The beginnings of the lines: with descriptions if there is room, of as many groups as there is room for."""
    for with_description in (True, False):
        texts = [group.head(with_description=with_description) for group in groups]
        heads = [_Head(group, text, estimate_text(f"{text}\n")) for group, text in zip(groups, texts, strict=True)]
        if sum(head.cost for head in heads) <= room * (0.5 if with_description else 1):
            return heads
    kept: list[_Head] = []
    left = room - _MORE_TOKENS
    for head in heads:
        left -= head.cost
        if left < 0:
            break
        kept.append(head)
    return kept


def _name_of(entry: Entry) -> str:
    """The name at its server, unless it is no plain name: whoever gave it may have written anything."""
    return entry.own_name if len(entry.own_name) <= _LONGEST_NAME and _PLAIN.fullmatch(entry.own_name) else entry.name


def _one_line(text: str, longest: int) -> str:
    line = " ".join(text[: longest * 4].split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def _whole(stem: str, names: Sequence[str]) -> str:
    """The stem as a word that stands in one of the names."""
    for name in names:
        for word in re.findall(r"[A-Z]?[^\W_A-Z]+|[A-Z]+", name):
            if stems_of(word) == [stem]:
                return word.lower()
    return stem


def _listed(beginning: str, words: Sequence[str]) -> str:
    return beginning + ", ".join(words)


def _cost(words: Sequence[str], beginning: str = ": ") -> int:
    return estimate_text(_listed(beginning, words))


_ABOUT = " about "
