"""The key of a line: what is left of it when everything is gone that people and models write in one way or another."""

import re
import unicodedata
from collections.abc import Iterator

_ASCII_WHITESPACE = b" \t\r\v\f\x1c\x1d\x1e\x1f"
_UNICODE_WHITESPACE = "\x85\u1680\u2028\u2029"
"""White space that is left once Unicode's compatible forms are taken and what is of ASCII is gone."""
_BLOCK_SIZE = 1 << 12
_PART_SIZE = 1 << 8
_PLAIN_TICKS = bytes.maketrans(b"`", b"'")
# Signs that look alike, written in ASCII; Unicode's own table (NFKC) knows the wide and narrow forms, but not these.
_CONFUSABLES = {
    **dict.fromkeys(map(ord, "“”„‟«»″〝〞"), '"'),
    **dict.fromkeys(map(ord, "‘’‚‛‹›′´`"), "'"),
    **dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣"), "-"),
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f"), None),
}
_CONFUSABLE = re.compile(f"[{''.join(map(chr, _CONFUSABLES))}]")
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
_SURROGATES = re.compile("[\ud800-\udfff]")
_MIN_DISTINCTIVE_LENGTH = 3
_DIGITS = re.compile(r"\d+")
_NAME = re.compile(r"\b(?:def|class|function|func|fn|interface|struct|enum|trait|type|module|namespace)\s+(\w+)")
_OPERATORS = re.compile(r"[-+*/%<>=!&|^~]+|\b(?:not|and|or|is|in|True|False|true|false|None|null)\b")


def normalize_line(line: str) -> str:
    """The line without white space, in its compatible Unicode form, with plain quotes and dashes."""
    if line.isascii():
        return "".join(line.split()).replace("`", "'")
    plain = replace_undecodable(line).translate(_CONFUSABLES)
    return "".join(unicodedata.normalize("NFKC", plain).split()).replace("`", "'")


def replace_undecodable(text: str) -> str:
    """The text as a model sees it: with U+FFFD for each byte that is no text."""
    return _SURROGATES.sub("\ufffd", text)


def normalize_text(text: str) -> str:
    """The keys of all lines of a text, which end at LF only, each on a line: the same as one by one, much faster."""
    if text.isascii():
        return _normalize_ascii(text)
    # In most files all but a few lines are ASCII.
    return "".join(
        [
            _normalize_ascii(block) if block.isascii() else _normalize_mixed(block)
            for block in _blocks(text, _BLOCK_SIZE)
        ]
    )


def _normalize_mixed(text: str) -> str:
    return "".join(
        [_normalize_ascii(part) if part.isascii() else _normalize_block(part) for part in _blocks(text, _PART_SIZE)]
    )


def _blocks(text: str, size: int) -> Iterator[str]:
    """The text in parts of whole lines, of at least such a size."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + size) + 1 or len(text)
        yield text[start:end]
        start = end


def _normalize_ascii(text: str) -> str:
    return text.encode("ascii").translate(_PLAIN_TICKS, _ASCII_WHITESPACE).decode("ascii")


def _normalize_block(text: str) -> str:
    if _CONFUSABLE.search(text):
        for sign, plain in _CONFUSABLES.items():
            text = text.replace(chr(sign), plain or "")
    # No line changes what is next to it: nothing is composed with a line end, or moved over it.
    normal = unicodedata.normalize("NFKC", text)
    try:
        raw = normal.encode()
    except UnicodeEncodeError:
        raw = replace_undecodable(normal).encode()
    keys = raw.translate(_PLAIN_TICKS, _ASCII_WHITESPACE).decode()
    for white in _UNICODE_WHITESPACE:
        keys = keys.replace(white, "")
    return keys


def strip_escapes(key: str) -> str:
    """A key without backslashes, and with HTML entities as the characters that they stand for."""
    key = key.replace("\\", "")
    for entity, sign in _ENTITIES if "&" in key else ():
        key = key.replace(entity, sign)
    return key


def split_words(line: str) -> list[str]:
    """Its words and signs, without white space."""
    return _WORD.findall(line)


def find_numbers(text: str) -> list[str]:
    """Its numbers: a wrong one is never a slip."""
    return _DIGITS.findall(text)


def find_operators(text: str) -> list[str]:
    """What decides what a line of code does, and is easily mistaken."""
    return _OPERATORS.findall(text)


def find_defined_names(line: str) -> list[str]:
    """What a line of code defines: another name there is another thing, and no slip."""
    return _NAME.findall(line)


def is_distinctive(key: str) -> bool:
    """Whether a line says anything that could tell one place from another: a bracket or a blank line does not."""
    return len(key) >= _MIN_DISTINCTIVE_LENGTH and any(map(str.isalnum, key))
