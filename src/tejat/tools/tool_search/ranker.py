"""Ranked search over tool names, servers, descriptions and parameters (BM25 with synonyms and typos)."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tejat.core.text.edit_distance import edit_distance
from tejat.tools.registry import ToolEntry

_MAX_DESCRIPTION_LENGTH = 1_000
_MAX_PARAMETERS = 50
_MAX_QUERY_LENGTH = 500
_BM25_K1 = 1.2
_BM25_B = 0.4
_SYNONYM_WEIGHT = 0.6
_TYPO_WEIGHT = 0.5
_MIN_TYPO_LENGTH = 4


class ToolRanker:
    """Search index over a fixed set of tools."""

    def __init__(self, entries: Sequence[ToolEntry]) -> None:
        self._entries = entries
        self._postings: dict[str, dict[int, float]] = {}
        lengths = [0.0] * len(entries)
        for number, entry in enumerate(entries):
            for stem, weight in weighted_stems(entry).items():
                self._postings.setdefault(stem, {})[number] = weight
                lengths[number] += weight
        usual = sum(lengths) / max(1, len(lengths)) or 1.0
        self._length_norms = [1 - _BM25_B + _BM25_B * length / usual for length in lengths]

    def rank(self, query: str) -> list[ToolEntry]:
        """List the matching tools, best first."""
        stems = list(dict.fromkeys(stem_words(query[:_MAX_QUERY_LENGTH])))
        stems = [stem for stem in stems if stem not in STOP_WORDS] or stems
        scores: dict[int, float] = {}
        hits: Counter[int] = Counter()
        for stem in stems:
            for number, score in self._score_stem(stem).items():
                scores[number] = scores.get(number, 0.0) + score
                hits[number] += 1
        # A tool that matches all words ranks above one that matches a single word very well.
        final = {number: score * (1 + hits[number] / len(stems)) for number, score in scores.items()}
        return [self._entries[number] for number in sorted(final, key=lambda number: (-final[number], number))]

    def _score_stem(self, stem: str) -> dict[int, float]:
        """Score all tools for one stem and its synonyms."""
        best: dict[int, float] = {}
        for other, worth in self._expand_stem(stem).items():
            with_it = self._postings.get(other, {})
            rarity = math.log(1 + (len(self._entries) - len(with_it) + 0.5) / (len(with_it) + 0.5))
            for number, weight in with_it.items():
                score = worth * rarity * weight / (weight + _BM25_K1 * self._length_norms[number])
                best[number] = max(best.get(number, 0.0), score)
        return best

    def _expand_stem(self, stem: str) -> Mapping[str, float]:
        weights = {stem: 1.0} | dict.fromkeys(_SYNONYMS.get(stem, ()), _SYNONYM_WEIGHT)
        weights[stem] = 1.0
        if stem in self._postings or len(stem) < _MIN_TYPO_LENGTH:
            return weights
        likely = (known for known in self._postings if known.startswith(stem) or _is_typo(stem, known))
        return weights | dict.fromkeys(likely, _TYPO_WEIGHT)


def weighted_stems(entry: ToolEntry) -> dict[str, float]:
    """Weigh the stems of a tool by where they occur."""
    weights: dict[str, float] = {}
    # The first paragraph says what the tool does; the rest is often boilerplate.
    first, _, more = entry.declaration.description[:_MAX_DESCRIPTION_LENGTH].partition("\n\n")
    for text, weight in (
        (entry.own_name, 4.0),
        (entry.server or "", 1.5),
        (first, 1.0),
        (more, 0.3),
        (" ".join(_parameter_names(entry)), 0.4),
    ):
        for stem in stem_words(text):
            if stem not in STOP_WORDS:
                weights[stem] = weights.get(stem, 0.0) + weight
    return weights


def _parameter_names(entry: ToolEntry) -> Iterable[str]:
    properties = entry.declaration.parameters_json_schema.get("properties")
    return list(properties)[:_MAX_PARAMETERS] if isinstance(properties, Mapping) else ()


def stem_words(text: str) -> list[str]:
    """Split a text or identifier into lowercase stems."""
    return [piece for word in _WORD.findall(_CAMEL_CASE_BORDER.sub(" ", text)) for piece in _stem_pieces(word.lower())]


def _stem_pieces(word: str) -> list[str]:
    """Split scripts without spaces into bigrams."""
    if word.isascii() or not _WITHOUT_SPACES.search(word):
        return [stem_word(word)]
    return [word[at : at + 2] for at in range(max(1, len(word) - 1))]


def stem_word(word: str) -> str:
    """Strip the most common English endings, so that `issues` and `creating` match `issue` and `create`."""
    if len(word) > 4 and word.endswith("ies"):
        word = f"{word[:-3]}y"
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending, shortest in (("ing", 6), ("ion", 7), ("ed", 5)):
        if len(word) >= shortest and word.endswith(ending):
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _is_typo(stem: str, known: str) -> bool:
    return abs(len(stem) - len(known)) <= 1 and stem[0] == known[0] and edit_distance(stem[:40], known[:40]) == 1


_WORD = re.compile(r"[^\W_]+")
_CAMEL_CASE_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")

_STOP_WORD_LIST = """
a an the of to in on at for from with by and or is are be it its this that these those i me my we our you your
can could should would will do does please want need how what which when where use using used tool tools into
as if not any some there one
"""
STOP_WORDS = frozenset(map(stem_word, _STOP_WORD_LIST.split()))
"""Stems that say nothing about a tool."""

_SYNONYM_GROUPS = """
create add new make insert open register
delete remove drop destroy erase clear
update edit modify change set patch alter
get fetch read retrieve show view describe display see detail
list all enumerate browse
search find query look lookup locate
send post publish write notify
run execute invoke trigger start launch call
stop cancel abort halt terminate kill end close
move rename transfer
copy duplicate clone fork
upload attach put
download export save
repo repository project
issue ticket bug story task
pr pull merge
comment reply note respond answer
message msg dm chat
channel room conversation
user member person people account assignee
team group
file document doc
directory folder dir
database db sql
row record entry
column field schema
picture image screenshot photo
page tab site website url web
click press tap
event meeting appointment
calendar schedule agenda
mail email inbox
log output
pod container
kubernetes k8s kubectl cluster
scale resize replica
deploy deployment rollout release
metric statistic stat usage
alert alarm incident
commit revision history
permission access role
secret credential password key token
invoice bill charge payment
customer client
price cost
diff compare difference
config configuration setting option
job workflow pipeline build ci action
tag label
free available availability
"""


def _build_synonyms() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for line in _SYNONYM_GROUPS.strip().splitlines():
        stems = [stem_word(word) for word in line.split()]
        for stem in stems:
            found.setdefault(stem, {}).update(dict.fromkeys(other for other in stems if other != stem))
    return {stem: tuple(others) for stem, others in found.items()}


_SYNONYMS = _build_synonyms()
