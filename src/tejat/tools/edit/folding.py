"""The key of a line: what is left of it when everything is gone that people and models write in one way or another."""

import re
import unicodedata
from collections.abc import Iterator

_WHITE = b" \t\r\v\f\x1c\x1d\x1e\x1f"
_MORE_WHITE = "\x85\u1680\u2028\u2029"
"""White space that is left once Unicode's compatible forms are taken and what is of ASCII is gone."""
_BLOCK = 1 << 12
_PART = 1 << 8
_PLAIN_TICKS = bytes.maketrans(b"`", b"'")
# Signs that look alike, written in ASCII; Unicode's own table (NFKC) knows the wide and narrow forms, but not these.
_LOOK_ALIKE = {
    **dict.fromkeys(map(ord, "“”„‟«»″〝〞"), '"'),
    **dict.fromkeys(map(ord, "‘’‚‛‹›′´`"), "'"),
    **dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣"), "-"),
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f"), None),
}
_HAS_LOOK_ALIKES = re.compile(f"[{''.join(map(chr, _LOOK_ALIKE))}]")
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
_STRANGE = re.compile("[\ud800-\udfff]")
_TELLING = 3
_DIGITS = re.compile(r"\d+")
_NAME = re.compile(r"\b(?:def|class|function|func|fn|interface|struct|enum|trait|type|module|namespace)\s+(\w+)")
_OPERATORS = re.compile(r"[-+*/%<>=!&|^~]+|\b(?:not|and|or|is|in|True|False|true|false|None|null)\b")


def key_of(line: str) -> str:
    """The line without white space, in its compatible Unicode form, with plain quotes and dashes."""
    if line.isascii():
        return "".join(line.split()).replace("`", "'")
    plain = without_strange_bytes(line).translate(_LOOK_ALIKE)
    return "".join(unicodedata.normalize("NFKC", plain).split()).replace("`", "'")


def without_strange_bytes(text: str) -> str:
    """The text as a model sees it: with U+FFFD for each byte that is no text."""
    return _STRANGE.sub("\ufffd", text)


def folded(text: str) -> str:
    """The keys of all lines of a text, which end at LF only, each on a line: the same as one by one, much faster."""
    if text.isascii():
        return _folded_ascii(text)
    # In most files all but a few lines are ASCII.
    return "".join(
        [_folded_ascii(block) if block.isascii() else _folded_parts(block) for block in _blocks(text, _BLOCK)]
    )


def _folded_parts(text: str) -> str:
    return "".join([_folded_ascii(part) if part.isascii() else _folded(part) for part in _blocks(text, _PART)])


def _blocks(text: str, size: int) -> Iterator[str]:
    """The text in parts of whole lines, of at least such a size."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + size) + 1 or len(text)
        yield text[start:end]
        start = end


def _folded_ascii(text: str) -> str:
    return text.encode("ascii").translate(_PLAIN_TICKS, _WHITE).decode("ascii")


def _folded(text: str) -> str:
    if _HAS_LOOK_ALIKES.search(text):
        for sign, plain in _LOOK_ALIKE.items():
            text = text.replace(chr(sign), plain or "")
    # No line changes what is next to it: nothing is composed with a line end, or moved over it.
    normal = unicodedata.normalize("NFKC", text)
    try:
        raw = normal.encode()
    except UnicodeEncodeError:
        raw = without_strange_bytes(normal).encode()
    keys = raw.translate(_PLAIN_TICKS, _WHITE).decode()
    for white in _MORE_WHITE:
        keys = keys.replace(white, "")
    return keys


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
