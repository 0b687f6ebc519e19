"""Normalization of lines to keys, without differences in white space, quotes, dashes and Unicode form."""

import re
import unicodedata
from collections.abc import Iterator

_ASCII_WHITESPACE = b" \t\r\v\f\x1c\x1d\x1e\x1f"
_UNICODE_WHITESPACE = "\x85\u1680\u2028\u2029"
"""White space that remains after NFKC normalization and removal of ASCII white space."""
_BLOCK_SIZE = 1 << 12
_PART_SIZE = 1 << 8
_PLAIN_TICKS = bytes.maketrans(b"`", b"'")
# Look-alikes as ASCII characters. NFKC covers full-width and compatibility forms, but not these.
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


def line_key(line: str) -> str:
    """Remove white space and normalize Unicode compatibility forms, quotes and dashes."""
    if line.isascii():
        return "".join(line.split()).replace("`", "'")
    plain = replace_undecodable(line).translate(_CONFUSABLES)
    return "".join(unicodedata.normalize("NFKC", plain).split()).replace("`", "'")


def replace_undecodable(text: str) -> str:
    """Replace undecodable bytes by U+FFFD, as models see them."""
    return _SURROGATES.sub("\ufffd", text)


def normalize_text(text: str) -> str:
    """Normalize all lines of a text with LF line ends: equal to `line_key` for each, and much faster."""
    if text.isascii():
        return _normalize_ascii(text)
    # In most files nearly all lines are ASCII.
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
    """Split a text into blocks of whole lines of at least this size."""
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
    # Lines do not affect each other: nothing composes with a line end or moves across it.
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
    """Remove backslashes from a key and replace HTML entities by their characters."""
    key = key.replace("\\", "")
    for entity, sign in _ENTITIES if "&" in key else ():
        key = key.replace(entity, sign)
    return key


def split_words(line: str) -> list[str]:
    """Split a line into words and punctuation."""
    return _WORD.findall(line)


def find_numbers(text: str) -> list[str]:
    """Find the numbers: a different number is never a typo."""
    return _DIGITS.findall(text)


def find_operators(text: str) -> list[str]:
    """Find the operators, which decide what a line of code does."""
    return _OPERATORS.findall(text)


def find_defined_names(line: str) -> list[str]:
    """Find the names that a line of code defines: a different name is never a typo."""
    return _NAME.findall(line)


def is_distinctive(key: str) -> bool:
    """Check that a line could identify a place, unlike a bracket or a blank line."""
    return len(key) >= _MIN_DISTINCTIVE_LENGTH and any(map(str.isalnum, key))
