"""The key of a line: what is left of it when everything is gone that people and models write in one way or another."""

import re
import unicodedata

_WHITE = b" \t\r\v\f\x1c\x1d\x1e\x1f"
_PLAIN_TICKS = bytes.maketrans(b"`", b"'")
# Signs that look alike, written in ASCII; Unicode's own table (NFKC) knows the wide and narrow forms, but not these.
_LOOK_ALIKE = {
    **dict.fromkeys(map(ord, "“”„‟«»″〝〞"), '"'),
    **dict.fromkeys(map(ord, "‘’‚‛‹›′´`"), "'"),
    **dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣"), "-"),
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f"), None),
}
_WORD = re.compile(r"\w+|[^\w\s]")
_ENTITIES = (
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", '"'),
    ("&#34;", '"'),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&apos;", "'"),
    ("&nbsp;", ""),
    ("&amp;", "&"),
)
_TELLING = 3
_DIGITS = re.compile(r"\d+")
_NAME = re.compile(r"\b(?:def|class|function|func|fn|interface|struct|enum|trait|type|module|namespace)\s+(\w+)")
_OPERATORS = re.compile(r"[-+*/%<>=!&|^~]+|\b(?:not|and|or|is|in|True|False|true|false|None|null)\b")


def key_of(line: str) -> str:
    """The line without white space, in its compatible Unicode form, with plain quotes and dashes."""
    if line.isascii():
        return "".join(line.split()).replace("`", "'")
    return "".join(unicodedata.normalize("NFKC", line.translate(_LOOK_ALIKE)).split())


def keys_of(text: str) -> list[str]:
    """The keys of all lines of a text, which end at LF only."""
    if text.isascii():
        # The same as one by one, many times as fast.
        return text.encode("ascii").translate(_PLAIN_TICKS, _WHITE).decode("ascii").split("\n")
    return [key_of(line) for line in text.split("\n")]


def unescaped(key: str) -> str:
    """A key without backslashes, and with HTML entities as the characters that they stand for."""
    key = key.replace("\\", "")
    for entity, sign in _ENTITIES if "&" in key else ():
        key = key.replace(entity, sign)
    return key


def words_of(line: str) -> list[str]:
    """Its words and signs, without white space."""
    return _WORD.findall(line)


def digits_of(text: str) -> list[str]:
    """Its numbers: a wrong one is never a slip."""
    return _DIGITS.findall(text)


def operators_of(text: str) -> list[str]:
    """What decides what a line of code does, and is easily mistaken."""
    return _OPERATORS.findall(text)


def names_of(line: str) -> list[str]:
    """What a line of code defines: another name there is another thing, and no slip."""
    return _NAME.findall(line)


def is_telling(key: str) -> bool:
    """Whether a line says anything that could tell one place from another: a bracket or a blank line does not."""
    return len(key) >= _TELLING and any(map(str.isalnum, key))
