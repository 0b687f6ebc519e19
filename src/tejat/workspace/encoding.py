"""Which encoding the bytes of a text are in, and the way from bytes to text and back without loss."""

import codecs
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import log

from tejat.core.errors import ErrorType, ToolFailure
from tejat.workspace import encoding_tables as tables

_BINARY_PROBE = 4096
_CONTROL_BYTES = bytes([*range(9), *range(14, 32)])
_CHUNK = 1 << 20


class UnencodableCharacter(ToolFailure):
    """A text holds a character that the file's encoding lacks; nothing was written."""

    def __init__(self, character: str, codec: str) -> None:
        self.character = character
        self.codec = codec
        super().__init__(
            f"{_spell(character)} cannot be written in {codec}, the encoding of this file. "
            f"Use characters that {codec} has, or convert the file to UTF-8 first.",
            ErrorType.FILE_WRITE_FAILURE,
        )


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """A Python codec and the byte order mark that the text begins with, b"" when it has none."""

    codec: str
    bom: bytes

    def decode(self, raw: bytes) -> str:
        """The text without its byte order mark; never raises.

        A byte that is not part of a character becomes one lone surrogate, U+DC00 plus the byte, so that `encode` gives
        back the same bytes. The exceptions are the few characters that cp932 and cp950 hold twice: they are read right,
        and come back as the usual one of the two, which is as long.
        """
        start = len(self.bom) if raw.startswith(self.bom) else 0
        if self.codec == "euc_jp" and _EUC_TILDE in raw:
            # The only sequence of all codecs in use that would come back with another length.
            return _EUC_TILDE_ESCAPED.join(
                str(part, "euc_jp", "surrogateescape") for part in raw[start:].split(_EUC_TILDE)
            )
        return str(memoryview(raw)[start:], self.codec, _WIDE_ERRORS if self.is_wide else "surrogateescape")

    def encode(self, text: str) -> bytes:
        """The bytes of a text that `decode` gave, or of a part of it, without byte order mark.

        Raises UnencodableCharacter.
        """
        if not self.is_wide:
            return self._encode(text, "surrogateescape")
        parts = _ESCAPED_RUN.split(text)
        if len(parts) == 1:
            return self._encode(text, "strict")
        return b"".join(
            bytes([ord(escaped) - 0xDC00 for escaped in part]) if odd else self._encode(part, "strict")
            for part, odd in zip(parts, _alternate(len(parts)), strict=True)
        )

    def encode_new(self, text: str) -> bytes:
        """The bytes of a text that did not come from `decode`, without byte order mark; lone surrogates are refused.

        Raises UnencodableCharacter.
        """
        return self._encode(text, "strict")

    def byte_offsets(self, raw: bytes, text: str, positions: Sequence[int]) -> list[int]:
        """Where the characters at `positions` of `text`, which is `decode(raw)`, begin in `raw`, its mark counted.

        `positions` ascend; the length of the text is a valid one.
        """
        start = len(self.bom) if raw.startswith(self.bom) else 0
        if len(raw) - start == len(text):
            return [start + position for position in positions]
        offsets: list[int] = []
        seen, offset = 0, start
        for position in positions:
            while seen < position:
                # In chunks, so that a far position does not cost a second copy of the file.
                piece = text[seen : min(position, seen + _CHUNK)]
                offset += len(self.encode(piece))
                seen += len(piece)
            offsets.append(offset)
        return offsets

    @property
    def is_wide(self) -> bool:
        """Whether a character takes two or four bytes, the ASCII ones too."""
        return self.codec.startswith(("utf-16", "utf-32"))

    @property
    def is_unicode(self) -> bool:
        """Whether it is UTF-8, UTF-16 or UTF-32."""
        return self.codec.startswith("utf-")

    @property
    def unit(self) -> int:
        """How many bytes the smallest character takes."""
        return {"utf-16": 2, "utf-32": 4}.get(self.codec[:6], 1)

    def _encode(self, text: str, errors: str) -> bytes:
        try:
            return text.encode(self.codec, errors)
        except UnicodeEncodeError as failure:
            raise UnencodableCharacter(text[failure.start], self.codec) from None


UTF_8 = TextEncoding("utf-8", b"")


def detect(raw: bytes, *, whole: bool) -> TextEncoding | None:
    """The encoding that the bytes are most likely in, or None when they are not text.

    With `whole` False, `raw` is the beginning of something longer and may end inside a character.
    """
    marked = _by_mark(raw, whole=whole)
    if marked is not None:
        return marked
    probe = raw[:_BINARY_PROBE]
    if b"\0" in probe:
        return _without_mark(probe, whole=whole and len(raw) <= _BINARY_PROBE)
    if len(probe) - len(probe.translate(None, _CONTROL_BYTES)) > 0.3 * len(probe):
        return None
    if raw.isascii() or _is_utf8(raw, whole=whole):
        return UTF_8
    return _by_likelihood(raw)


def _spell(character: str) -> str:
    code = f"U+{ord(character):04X}"
    if "\ud800" <= character <= "\udfff":
        return f"{code} (a lone surrogate, not a character)"
    shown = f" '{character}'" if character.isprintable() else ""
    return f"The character {code}{shown} ({unicodedata.name(character, 'unnamed')})"


# --- bytes that belong to no character ---

_EUC_TILDE = b"\x8f\xa2\xb7"
_EUC_TILDE_ESCAPED = "\udc8f\udca2\udcb7"
_ESCAPED_RUN = re.compile("([\udc00-\udcff]+)")
_WIDE_ERRORS = "tejat.surrogates"


def _escape_wide(failure: UnicodeError) -> tuple[str, int]:
    # The built-in handler leaves bytes below 0x80 alone; in UTF-16 and UTF-32 any byte can be part of a broken unit.
    if not isinstance(failure, UnicodeDecodeError):
        raise failure
    broken = failure.object[failure.start : failure.end]
    return "".join([chr(0xDC00 + byte) for byte in broken]), failure.end


codecs.register_error(_WIDE_ERRORS, _escape_wide)


def _alternate(count: int) -> list[bool]:
    return [bool(index % 2) for index in range(count)]


# --- Unicode ---

_MARKS = (
    TextEncoding("utf-8", codecs.BOM_UTF8),
    TextEncoding("utf-32-le", codecs.BOM_UTF32_LE),  # begins like the mark of UTF-16, so it goes first
    TextEncoding("utf-32-be", codecs.BOM_UTF32_BE),
    TextEncoding("utf-16-le", codecs.BOM_UTF16_LE),
    TextEncoding("utf-16-be", codecs.BOM_UTF16_BE),
    TextEncoding("gb18030", b"\x84\x31\x95\x33"),
)
_UNMARKED_WIDE = tuple(TextEncoding(codec, b"") for codec in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"))


def _by_mark(raw: bytes, *, whole: bool) -> TextEncoding | None:
    for encoding in _MARKS:
        if not raw.startswith(encoding.bom):
            continue
        if encoding.codec == "utf-32-le" and not _is_utf32(raw[4:], whole=whole):
            continue
        return encoding
    return None


def _is_utf32(raw: bytes, *, whole: bool) -> bool:
    """Tells the mark of UTF-32 from the mark of UTF-16 before a NUL character."""
    probe = raw[:_BINARY_PROBE]
    if len(probe) % 4 and whole:
        return False
    try:
        probe[: len(probe) // 4 * 4].decode("utf-32-le")
    except UnicodeDecodeError:
        return False
    return True


def _without_mark(probe: bytes, *, whole: bool) -> TextEncoding | None:
    """Bytes with zeros among them are text only if they read as UTF-16 or UTF-32, and as nothing odd."""
    best: TextEncoding | None = None
    fewest_oddities = 0.02
    for encoding in _UNMARKED_WIDE:
        if whole and len(probe) % encoding.unit:
            continue
        units = len(probe) // encoding.unit
        text = encoding.decode(probe[: units * encoding.unit])
        oddities = sum(1 for character in text[:-1] if _is_odd(character)) / max(units, 1)
        if units and oddities < fewest_oddities:
            best, fewest_oddities = encoding, oddities
    return best


def _is_odd(character: str) -> bool:
    if character in "\t\n\r\f\x1b":
        return False
    return unicodedata.category(character) in ("Cc", "Cn", "Co", "Cs")


def _is_utf8(raw: bytes, *, whole: bool) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(raw)
    try:
        for start in range(0, len(raw), _CHUNK):
            decoder.decode(view[start : start + _CHUNK], final=whole and start + _CHUNK >= len(raw))
    except UnicodeDecodeError:
        return False
    return True


# --- encodings from before Unicode ---

_SAMPLE = 8192
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


def _by_likelihood(raw: bytes) -> TextEncoding:
    sample = _telling_part(raw)
    if _is_mostly_utf8(sample):
        return UTF_8
    codec = max(_MODELS, key=lambda codec: _MODELS[codec](str(sample, codec, "surrogateescape")))
    if codec == "gb18030" and not any(character >= "\udc80" for character in str(sample, "gbk", "surrogateescape")):
        codec = "gbk"
    return TextEncoding(codec, b"")


def _telling_part(raw: bytes) -> bytes:
    """The first lines that are not pure ASCII, as far as _SAMPLE bytes; no line begins inside a character."""
    lines: list[bytes] = []
    missing = _SAMPLE
    found = _NOT_ASCII.search(raw)
    while found is not None and missing > 0:
        start = max(raw.rfind(b"\n", 0, found.start()) + 1, found.start() - 16)
        end = raw.find(b"\n", found.start(), found.start() + missing)
        line = raw[start : end if end >= 0 else found.start() + missing]
        lines.append(line)
        missing -= len(line)
        found = _NOT_ASCII.search(raw, start + len(line))
    return b"\n".join(lines)


def _is_mostly_utf8(sample: bytes) -> bool:
    text = str(sample, "utf-8", "surrogateescape")
    broken = sum(1 for character in text if "\udc80" <= character <= "\udcff")
    characters = sum(1 for character in text if character > "\x7f") - broken
    return characters >= 4 * broken


def _eastern(common: str, charset: str, leads: tuple[int, int], *, kana: float) -> Callable[[str], float]:
    """A model of ideographic text: the logarithm of how likely it is, character by character.

    The old character sets were laid out with the common characters first: `leads` are the lead bytes of that first
    part in `charset`, and `common` are the most frequent of them.
    """
    ranks = {character: rank for rank, character in enumerate(common)}

    @cache
    def score(character: str) -> float:
        if character < "\x80":
            return -3.0
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
            return -9.3 if leads[0] <= lead <= leads[1] else -13.0
        if "\u2010" <= character <= "\u266f":
            return -9.0
        return _foreign(character)

    return lambda text: sum(map(score, text)) - 3.0 * len(_WEDGED_IDEOGRAPH.findall(text))


_WEDGED_IDEOGRAPH = re.compile("(?<=[A-Za-z])[\u4e00-\ud7a3](?=[A-Za-z])")


def _foreign(character: str) -> float:
    if "\ud800" <= character <= "\udfff":
        return -18.0
    return -16.0 if character <= "\x9f" or "\ue000" <= character <= "\uf8ff" else -11.0


def _cyrillic(text: str) -> float:
    total = 0.0
    before = " "
    for character in text:
        total += _cyrillic_step(before, character)
        before = character
    return total


@cache
def _cyrillic_step(before: str, character: str) -> float:
    if character < "\x80":
        return -3.0
    letter = character.lower()
    rank = tables.CYRILLIC_LETTERS.find(letter)
    if rank < 0:
        return -6.5 if character in "«»„“”–—№…\xa0" else _foreign(character)
    score = -2.5 - 0.1 * rank
    if before.lower() in tables.CYRILLIC_LETTERS:
        score += 0.7 if before.lower() + letter in tables.CYRILLIC_PAIRS else -1.2
        if character != letter:
            score -= 4.0 if before.islower() else 0.5
        return score
    if before.isalpha():
        score -= 3.0
    return score if character == letter else score - 1.0


def _latin(text: str) -> float:
    total = 0.0
    for before, character, after in zip(" " + text[:-1], text, text[1:] + " ", strict=True):
        total += _latin_step(before, character, after) if character > "\x7f" else -3.0
    return total


@cache
def _latin_step(before: str, character: str, after: str) -> float:
    letter = character.lower()
    rank = tables.LATIN_LETTERS.find(letter)
    if rank < 0:
        return -6.5 if character in tables.LATIN_SIGNS else _foreign(character)
    score = -4.2 - 0.08 * rank
    if character != letter:
        score -= 4.0 if before.islower() else 1.0
    if before > "\x7f" and before.isalpha() and (before + character).lower() not in tables.LATIN_NEIGHBOURS:
        score -= 2.5
    if not (before.isalpha() or after.isalpha()):
        score -= 1.0 if character in "àéåöèó" else 3.0
    return score


_MODELS: dict[str, Callable[[str], float]] = {
    "cp1252": _latin,
    "cp932": _eastern(tables.JAPANESE, "euc_jp", (0xB0, 0xCF), kana=-4.7),
    "euc_jp": _eastern(tables.JAPANESE, "euc_jp", (0xB0, 0xCF), kana=-4.7),
    "gb18030": _eastern(tables.SIMPLIFIED, "gb2312", (0xB0, 0xD7), kana=-11.0),
    "cp950": _eastern(tables.TRADITIONAL, "big5", (0xA4, 0xC6), kana=-11.0),
    "cp949": _eastern(tables.KOREAN, "euc_kr", (0xB0, 0xC8), kana=-11.0),
    "cp1251": _cyrillic,
    "koi8_r": _cyrillic,
    "koi8_u": _cyrillic,
}
