"""Summary of the searchable tools for the description of `find_tools`."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate, groupby

from tejat.core.frozen import Frozen
from tejat.core.messages.tokens import estimate_text_tokens
from tejat.tools.registry import ToolEntry
from tejat.tools.tool_search.ranker import STOP_WORDS, stem_words

MAX_TOKENS = 1_800

_MAX_NAME_LENGTH = 64
_MAX_DESCRIPTION_LENGTH = 100
_MAX_WORDS = 24
_PLAIN_NAME = re.compile(r"[\w.:-]+")
_OMISSION_TOKENS = 16
"""Reserved for the line that says how many groups are omitted."""


def summarize_tools(
    entries: Sequence[ToolEntry], server_description: Callable[[str], str], *, max_tokens: int = MAX_TOKENS
) -> str:
    """Summarize the tools: per server a line with the tool names, or with their number and topics.

    The summary is deterministic and has at most `max_tokens` tokens.
    """
    by_title = groupby(entries, key=lambda entry: entry.server or entry.source.value)
    groups = [_ToolGroup.from_entries(title, list(members), server_description) for title, members in by_title]
    heads = _fit_heads(groups, max_tokens)
    common = _common_stems(groups)
    is_cut = len(heads) < len(groups)
    left = max_tokens - sum(head.cost for head in heads) - (_OMISSION_TOKENS if is_cut else 0)
    lines = [head.text for head in heads]
    # Groups with few tools first: what they leave of their share goes to the others.
    for done, at in enumerate(sorted(range(len(heads)), key=lambda at: heads[at].group.names_cost)):
        detail = heads[at].group.detail(left // (len(heads) - done), common)
        lines[at] += detail
        left -= estimate_text_tokens(detail)
    if is_cut:
        lines.append(f"and {len(groups) - len(heads)} more, which a query finds too")
    return "\n".join(lines)


class _ToolGroup(Frozen):
    """Tools of one server, or of one source without servers."""

    title: str
    description: str
    names: tuple[str, ...]
    names_cost: int

    @classmethod
    def from_entries(
        cls, title: str, members: Sequence[ToolEntry], server_description: Callable[[str], str]
    ) -> "_ToolGroup":
        names = tuple(_short_name(member) for member in members)
        described = server_description(members[0].server) if members[0].server else ""
        description = _truncate_line(described, _MAX_DESCRIPTION_LENGTH)
        return cls(_truncate_line(title, _MAX_NAME_LENGTH), description, names, _token_cost(names))

    def head(self, *, with_description: bool) -> str:
        count = "1 tool" if len(self.names) == 1 else f"{len(self.names)} tools"
        described = f", {self.description}" if with_description and self.description else ""
        return f"{self.title} ({count}{described})"

    @property
    def stems(self) -> Counter[str]:
        """Number of names that contain each stem."""
        return Counter(stem for name in self.names for stem in set(stem_words(name)) - STOP_WORDS)

    def detail(self, budget: int, common: frozenset[str]) -> str:
        """List the names if there is room, else the words that are frequent in this group and rare in others."""
        if self.names_cost <= budget:
            return _join_words(": ", self.names)
        stems = sorted(self.stems.items(), key=lambda pair: (pair[0] in common, -pair[1], pair[0]))
        words = list(dict.fromkeys(_restore_word(stem, self.names) for stem, _ in stems[:_MAX_WORDS]))
        while words and _token_cost(words, _TOPICS_PREFIX) > budget:
            words.pop()
        return _join_words(_TOPICS_PREFIX, words) if words else ""


class _GroupHead(Frozen):
    group: _ToolGroup
    text: str
    cost: int


def _common_stems(groups: Sequence[_ToolGroup]) -> frozenset[str]:
    """Stems that occur in many groups, such as `list` and `get`."""
    counted = Counter(stem for group in groups for stem in group.stems)
    return frozenset(stem for stem, count in counted.items() if count > max(2, len(groups) / 3))


def _fit_heads(groups: Sequence[_ToolGroup], budget: int) -> list[_GroupHead]:
    """Choose the line beginnings that fit: with descriptions if possible, else for as many groups as possible."""
    for with_description in (True, False):
        texts = [group.head(with_description=with_description) for group in groups]
        pairs = zip(groups, texts, strict=True)
        heads = [_GroupHead(group, text, estimate_text_tokens(f"{text}\n")) for group, text in pairs]
        if sum(head.cost for head in heads) <= budget * (0.5 if with_description else 1):
            return heads
    totals = accumulate(head.cost for head in heads)
    return [head for head, total in zip(heads, totals, strict=True) if total <= budget - _OMISSION_TOKENS]


def _short_name(entry: ToolEntry) -> str:
    """Name on the server if it is a plain identifier, else the registered name: servers may send anything."""
    is_plain = len(entry.own_name) <= _MAX_NAME_LENGTH and _PLAIN_NAME.fullmatch(entry.own_name)
    return entry.own_name if is_plain else entry.name


def _truncate_line(text: str, longest: int) -> str:
    line = " ".join(text[: longest * 4].split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def _restore_word(stem: str, names: Sequence[str]) -> str:
    """Find a word of the names that has this stem."""
    for name in names:
        for word in re.findall(r"[A-Z]?[^\W_A-Z]+|[A-Z]+", name):
            if stem_words(word) == [stem]:
                return word.lower()
    return stem


def _join_words(prefix: str, words: Sequence[str]) -> str:
    return prefix + ", ".join(words)


def _token_cost(words: Sequence[str], prefix: str = ": ") -> int:
    return estimate_text_tokens(_join_words(prefix, words))


_TOPICS_PREFIX = " about "
