"""Finds the tools that fit some words: by name, server, description and parameters, ranked as a search engine does."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tejat.core.nearest import distance
from tejat.tools.registry import Entry

_LONGEST_DESCRIPTION = 1_000
_MOST_PARAMETERS = 50
_LONGEST_QUERY = 500
_SATURATION = 1.2
_LENGTH_COUNTS = 0.4
_FOR_A_SYNONYM = 0.6
_FOR_A_LIKELY_MISTAKE = 0.5
_SHORTEST_GUESSED = 4


class ToolSearch:
    """The words of some tools, made ready for looking them up."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._tools_with: dict[str, dict[int, float]] = {}
        lengths = [0.0] * len(entries)
        for number, entry in enumerate(entries):
            for stem, weight in weighted_stems(entry).items():
                self._tools_with.setdefault(stem, {})[number] = weight
                lengths[number] += weight
        usual = sum(lengths) / max(1, len(lengths)) or 1.0
        self._lengths = [1 - _LENGTH_COUNTS + _LENGTH_COUNTS * length / usual for length in lengths]

    def ranked(self, query: str) -> list[Entry]:
        """Those that have something to do with the query, the likeliest first."""
        wanted = list(dict.fromkeys(stems_of(query[:_LONGEST_QUERY])))
        wanted = [stem for stem in wanted if stem not in EMPTY_WORDS] or wanted
        scores: dict[int, float] = {}
        hits: Counter[int] = Counter()
        for stem in wanted:
            for number, score in self._scores(stem).items():
                scores[number] = scores.get(number, 0.0) + score
                hits[number] += 1
        # A tool that has to do with all the words comes before one that has very much to do with one of them.
        final = {number: score * (1 + hits[number] / len(wanted)) for number, score in scores.items()}
        return [self._entries[number] for number in sorted(final, key=lambda number: (-final[number], number))]

    def _scores(self, stem: str) -> dict[int, float]:
        """How much each tool has to do with one word, or with another that means the same."""
        best: dict[int, float] = {}
        for other, worth in self._meant(stem).items():
            with_it = self._tools_with.get(other, {})
            rarity = math.log(1 + (len(self._entries) - len(with_it) + 0.5) / (len(with_it) + 0.5))
            for number, weight in with_it.items():
                score = worth * rarity * weight / (weight + _SATURATION * self._lengths[number])
                best[number] = max(best.get(number, 0.0), score)
        return best

    def _meant(self, stem: str) -> Mapping[str, float]:
        meant = {stem: 1.0} | dict.fromkeys(_SYNONYMS.get(stem, ()), _FOR_A_SYNONYM)
        meant[stem] = 1.0
        if stem in self._tools_with or len(stem) < _SHORTEST_GUESSED:
            return meant
        likely = (known for known in self._tools_with if known.startswith(stem) or _is_slip(stem, known))
        return meant | dict.fromkeys(likely, _FOR_A_LIKELY_MISTAKE)


def weighted_stems(entry: Entry) -> dict[str, float]:
    """The words of a tool, each with how much it says about it."""
    weights: dict[str, float] = {}
    # What a tool does is said first; what follows is often the same for many of them.
    first, _, more = entry.declaration.description[:_LONGEST_DESCRIPTION].partition("\n\n")
    for text, weight in (
        (entry.own_name, 4.0),
        (entry.server or "", 1.5),
        (first, 1.0),
        (more, 0.3),
        (" ".join(_parameters(entry)), 0.4),
    ):
        for stem in stems_of(text):
            if stem not in EMPTY_WORDS:
                weights[stem] = weights.get(stem, 0.0) + weight
    return weights


def _parameters(entry: Entry) -> Iterable[str]:
    properties = entry.declaration.parameters_json_schema.get("properties")
    return list(properties)[:_MOST_PARAMETERS] if isinstance(properties, Mapping) else ()


def stems_of(text: str) -> list[str]:
    """The words of a text or a name in their order, lower case and without their endings."""
    return [piece for word in _WORD.findall(_BORDER.sub(" ", text)) for piece in _pieces(word.lower())]


def _pieces(word: str) -> list[str]:
    """Scripts without spaces are looked up by pairs of characters."""
    if word.isascii() or not _WITHOUT_SPACES.search(word):
        return [stem_of(word)]
    return [word[at : at + 2] for at in range(max(1, len(word) - 1))]


def stem_of(word: str) -> str:
    """The word without the commonest endings of English, so that `issues` and `creating` find `issue` and `create`."""
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


def _is_slip(stem: str, known: str) -> bool:
    return abs(len(stem) - len(known)) <= 1 and stem[0] == known[0] and distance(stem[:40], known[:40]) == 1


_WORD = re.compile(r"[^\W_]+")
_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")

_SAYING_NOTHING = """
a an the of to in on at for from with by and or is are be it its this that these those i me my we our you your
can could should would will do does please want need how what which when where use using used tool tools into
as if not any some there one
"""
EMPTY_WORDS = frozenset(map(stem_of, _SAYING_NOTHING.split()))
"""Stems that tell nothing of what a tool does."""

_ALIKE = """
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


def _synonyms() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for line in _ALIKE.strip().splitlines():
        stems = [stem_of(word) for word in line.split()]
        for stem in stems:
            found.setdefault(stem, {}).update(dict.fromkeys(other for other in stems if other != stem))
    return {stem: tuple(others) for stem, others in found.items()}


_SYNONYMS = _synonyms()
