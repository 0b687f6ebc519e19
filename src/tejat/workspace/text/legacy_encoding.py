"""Detection of legacy (pre-Unicode) encodings by character frequencies."""

import codecs
import re
from collections.abc import Callable
from functools import cache, lru_cache
from math import log

from tejat.workspace.text import encoding_tables as tables

_SAMPLE = 8192
_SCORED_BYTES = 1024  # more bytes cost time and do not change the result
_CONTEXT = 32

# Patterns are strings here, compiled on first use: most programs never meet such a file.
_NOT_ASCII = rb"[\x80-\xff]"
_GB18030_ONLY = rb"[\x81-\xfe][0-9][\x81-\xfe][0-9]"
_IDEOGRAPH_IN_WORD = "(?<=[A-Za-z])[\u4e00-\ud7a3](?=[A-Za-z])"
_NOT_LETTERS = "[^A-Za-z\u0400-\u04ff]+"
_INTO_CYRILLIC = "[A-Za-z](?=[\u0400-\u04ff])"
_OUT_OF_CYRILLIC = "[\u0400-\u04ff](?=[A-Za-z])"


def guess_codec(sample: bytes) -> str:
    """Return the Python codec in which the bytes, which are not all ASCII, are the likeliest text.

    All candidates decode the same bytes, so the likelihoods of whole texts are comparable whatever the character
    length.
    """
    models = _models()
    enough = sample[:_SCORED_BYTES]
    codec = max(models, key=lambda codec: models[codec](decode_sample(enough, codec, "surrogateescape")))
    # GBK has no four-byte characters: none may be written into a file without any.
    if codec == "gb18030" and not re.search(_GB18030_ONLY, sample):
        return "gbk"
    return codec


def sample_non_ascii(raw: bytes, *, whole: bool) -> bytes:
    """Return a sample for detection: the first few kilobytes of passages with non-ASCII bytes, with their newlines.

    None begins inside a character, but the last may end inside one. With `whole` False, so may `raw`.
    """
    stretches: list[bytes] = []
    missing = _SAMPLE
    not_ascii = re.compile(_NOT_ASCII)
    found = not_ascii.search(raw)
    while found is not None and missing > 0:
        # The first byte that is not ASCII behind a newline or an earlier stretch begins a character in every encoding.
        start = max(raw.rfind(b"\n", 0, found.start()) + 1, found.start() - _CONTEXT)
        newline = raw.find(b"\n", found.start(), found.start() + missing)
        end = newline + 1 if newline >= 0 else found.start() + missing
        stretches.append(raw[start:end])
        missing -= end - start
        if whole and newline < 0 and end >= len(raw):
            # Nothing can complete a character behind the end, just as behind a newline.
            stretches.append(b"\n")
        found = not_ascii.search(raw, end)
    return b"".join(stretches)


def decode_sample(sample: bytes, codec: str, errors: str) -> str:
    """Decode the sample without an incomplete last character."""
    return codecs.getincrementaldecoder(codec)(errors).decode(sample)


@cache
def _models() -> dict[str, Callable[[str], float]]:
    """The log-likelihood function of each codec; the first of two equals wins."""
    japanese = _east_asian_model(tables.JAPANESE, "euc_jp", (0xB0, 0xCF), kana=-4.7)
    return {
        "cp1252": _score_latin,
        "cp932": japanese,
        "euc_jp": japanese,
        "gb18030": _east_asian_model(tables.SIMPLIFIED, "gb2312", (0xB0, 0xD7), kana=-11.0),
        "cp950": _east_asian_model(tables.TRADITIONAL, "big5", (0xA4, 0xC6), kana=-11.0),
        "cp949": _east_asian_model(tables.KOREAN, "euc_kr", (0xB0, 0xC8), kana=-11.0),
        "cp1251": _score_cyrillic,
        "koi8_r": _score_cyrillic,
        "koi8_u": _score_cyrillic,
    }


def _east_asian_model(common: str, charset: str, first_part: tuple[int, int], *, kana: float) -> Callable[[str], float]:
    """A model of text in ideographs or syllables.

    Legacy character sets have the common characters in front: `first_part` is the range of their lead bytes in
    `charset`, and `common` lists the most frequent ones in order.
    """
    ranks = {character: rank for rank, character in enumerate(common)}

    @cache
    def score(character: str) -> float:
        if character < "\x80":
            return _ASCII
        if character in ranks:
            return -4.5 - log(1 + ranks[character] / 30)
        if "\u3041" <= character <= "\u30fe":
            return kana
        if "\uff66" <= character <= "\uff9f":
            return min(kana - 2, -6.5)
        if character in "、。「」（）！？，：・ー\u3000":
            return -5.5
        if "\uff01" <= character <= "\uff5e":
            return -7.5
        if "\u4e00" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3":
            lead = character.encode(charset, "replace")[0]
            return -9.3 if first_part[0] <= lead <= first_part[1] else -13.0
        return -9.0 if "\u2010" <= character <= "\u266f" else _unexpected_score(character)

    return lambda text: sum(map(score, text)) - 3.0 * len(re.findall(_IDEOGRAPH_IN_WORD, text))


_ASCII = -3.0


def _unexpected_score(character: str) -> float:
    if "\ud800" <= character <= "\udfff":
        return -18.0
    return -16.0 if character <= "\x9f" or "\ue000" <= character <= "\uf8ff" else -11.0


def _score_cyrillic(text: str) -> float:
    steps = sum(map(_cyrillic_step, " " + text[:-1], text))
    # Words of two scripts alternate seldom, and hardly ever is one word of both.
    alternations = len(re.findall(_INTO_CYRILLIC, re.sub(_NOT_LETTERS, "", text)))
    mixtures = len(re.findall(_INTO_CYRILLIC, text)) + len(re.findall(_OUT_OF_CYRILLIC, text))
    return steps - 4.0 * alternations - 3.0 * mixtures


@lru_cache(maxsize=8192)
def _cyrillic_step(before: str, character: str) -> float:
    if character < "\x80":
        return _ASCII
    letter = character.lower()
    if letter not in tables.CYRILLIC_FOLLOWERS:
        return -6.5 if character in tables.CYRILLIC_SIGNS else _unexpected_score(character)
    previous = before.lower() if before.lower() in tables.CYRILLIC_FOLLOWERS else " "
    rank = tables.CYRILLIC_FOLLOWERS[previous].find(letter)
    score = -7.5 if rank < 0 else -1.7 - 0.19 * rank
    if character == letter:
        return score
    if previous == " ":
        return score - 1.0
    return score - (4.0 if before.islower() else 0.3)


def _score_latin(text: str) -> float:
    return sum(map(_latin_step, " " + text[:-1], text, text[1:] + " "))


@lru_cache(maxsize=8192)
def _latin_step(before: str, character: str, after: str) -> float:
    if character < "\x80":
        return _ASCII
    letter = character.lower()
    rank = tables.LATIN_LETTERS.find(letter)
    if rank < 0:
        return -6.0 if character in tables.LATIN_SIGNS else _unexpected_score(character)
    score = -4.2 - 0.08 * rank
    if character != letter:
        score -= 4.0 if before.islower() else 1.0
    if before > "\x7f" and before.isalpha() and (before + character).lower() not in tables.LATIN_BIGRAMS:
        score -= 2.5
    if not (before.isalpha() or after.isalpha()):
        score -= 1.0 if character in tables.LATIN_WORDS else 3.0
    return score
