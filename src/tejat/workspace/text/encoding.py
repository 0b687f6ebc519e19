"""Encoding detection, and lossless conversion between bytes and text."""

import codecs
import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import chain, zip_longest

from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.workspace.text import encoding_tables as tables
from tejat.workspace.text.legacy_encoding import decode_sample, guess_codec, sample_non_ascii

_BINARY_PROBE = 4096
_CONTROL_BYTES = bytes([*range(9), *range(14, 32)])
_CHUNK = 1 << 20


class UnencodableCharacter(ToolFailure):
    """A character cannot be encoded in the file's encoding; nothing was written."""

    def __init__(self, character: str, codec: str) -> None:
        self.character = character
        self.codec = codec
        other = lazy("Use a character that {codec} supports, or convert the file to UTF-8 first.", codec=codec)
        message = lazy(
            "{character} cannot be encoded in {codec}, the encoding of this file. {remedy}",
            character=_describe_character(character),
            codec=codec,
            remedy=lazy("Remove it.") if _is_surrogate(character) else other,
        )
        super().__init__(message, ErrorType.FILE_WRITE_FAILURE)


class TextEncoding(Frozen):
    """A Python codec and the byte order mark of the text, b"" if it has none."""

    codec: str
    bom: bytes

    def decode(self, raw: bytes) -> str:
        """Decode without the byte order mark; never raises.

        An undecodable byte becomes a lone surrogate, U+DC00 plus the byte, so that `encode` returns the same bytes. The
        exceptions are the few characters that cp932 and cp950 have twice: they decode correctly and are encoded as the
        usual one of the two, which has the same length.
        """
        start = len(self.bom) if raw.startswith(self.bom) else 0
        if self.codec == "euc_jp" and _EUC_TILDE in raw:
            # The only sequence of all codecs that would be encoded with another length.
            parts = raw[start:].split(_EUC_TILDE)
            return _EUC_TILDE_ESCAPED.join(str(part, "euc_jp", "surrogateescape") for part in parts)
        return str(memoryview(raw)[start:], self.codec, _WIDE_ERRORS if self.is_wide else "surrogateescape")

    def encode(self, text: str) -> bytes:
        """Encode text from `decode`, or part of it, without byte order mark. Raises UnencodableCharacter."""
        if not self.is_wide:
            return self._encode(text, "surrogateescape")
        parts = re.split(_ESCAPED_RUN, text)
        if len(parts) == 1:
            return self._encode(text, "strict")
        encoded = [self._encode(part, "strict") for part in parts[::2]]
        escaped = [bytes([ord(character) - 0xDC00 for character in part]) for part in parts[1::2]]
        return b"".join(chain.from_iterable(zip_longest(encoded, escaped, fillvalue=b"")))

    def encode_new(self, text: str) -> bytes:
        """Encode text that did not come from `decode`, without byte order mark; lone surrogates are refused.

        Raises UnencodableCharacter.
        """
        return self._encode(text, "strict")

    def byte_offsets(self, raw: bytes, text: str, positions: Sequence[int]) -> list[int]:
        """Return the byte offsets of characters of a decoded text.

        `text` is `decode(raw)`. The offsets are those in `raw`, its mark included. `positions` ascend; the length of
        the text is valid.
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
        """Whether every character, ASCII included, takes at least two bytes."""
        return self.codec.startswith(("utf-16", "utf-32"))

    @property
    def is_unicode(self) -> bool:
        """Whether it is UTF-8, UTF-16 or UTF-32."""
        return self.codec.startswith("utf-")

    @property
    def code_unit_size(self) -> int:
        """Size of the smallest character in bytes."""
        return {"utf-16": 2, "utf-32": 4}.get(self.codec[:6], 1)

    def _encode(self, text: str, errors: str) -> bytes:
        try:
            return text.encode(self.codec, errors)
        except UnicodeEncodeError as failure:
            raise UnencodableCharacter(text[failure.start], self.codec) from None


UTF_8 = TextEncoding("utf-8", b"")


def detect_encoding(raw: bytes, *, whole: bool) -> TextEncoding | None:
    """Detect the most likely encoding, None if the bytes are not text.

    With `whole` False, `raw` is the beginning of something longer and may end inside a character.
    """
    marked = _encoding_from_bom(raw, whole=whole)
    if marked is not None:
        return marked
    probe = raw[:_BINARY_PROBE]
    if b"\0" in probe:
        return _detect_wide_without_bom(probe)
    if len(probe) - len(probe.translate(None, _CONTROL_BYTES)) > 0.3 * len(probe):
        return None
    if raw.isascii() or _is_utf8(raw, whole=whole):
        return UTF_8
    sample = sample_non_ascii(raw, whole=whole)
    return UTF_8 if _is_mostly_utf8(sample) else TextEncoding(guess_codec(sample), b"")


def _describe_character(character: str) -> str:
    code = f"U+{ord(character):04X}"
    if _is_surrogate(character):
        return lazy("The lone surrogate {code}", code=code)
    shown = f" '{character}'" if character.isprintable() else ""
    name = unicodedata.name(character, "unnamed")
    return lazy("The character {code}{shown} ({name})", code=code, shown=shown, name=name)


def _is_surrogate(character: str) -> bool:
    return "\ud800" <= character <= "\udfff"


# --- bytes that belong to no character ---

_EUC_TILDE = b"\x8f\xa2\xb7"
_EUC_TILDE_ESCAPED = "\udc8f\udca2\udcb7"
_ESCAPED_RUN = "([\udc00-\udcff]+)"
_WIDE_ERRORS = "tejat.surrogates"


def _escape_wide(failure: UnicodeError) -> tuple[str, int]:
    # The built-in handler leaves bytes below 0x80 alone; in UTF-16 and UTF-32 any byte can be part of a broken unit.
    if not isinstance(failure, UnicodeDecodeError):
        raise failure
    broken = failure.object[failure.start : failure.end]
    return "".join([chr(0xDC00 + byte) for byte in broken]), failure.end


codecs.register_error(_WIDE_ERRORS, _escape_wide)


# --- Unicode ---

_BOMS = (
    TextEncoding("utf-8", codecs.BOM_UTF8),
    TextEncoding("utf-32-le", codecs.BOM_UTF32_LE),  # begins like the mark of UTF-16, so it goes first
    TextEncoding("utf-32-be", codecs.BOM_UTF32_BE),
    TextEncoding("utf-16-le", codecs.BOM_UTF16_LE),
    TextEncoding("utf-16-be", codecs.BOM_UTF16_BE),
    TextEncoding("gb18030", b"\x84\x31\x95\x33"),
)
_WIDE_WITHOUT_BOM = tuple(TextEncoding(codec, b"") for codec in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"))


def _encoding_from_bom(raw: bytes, *, whole: bool) -> TextEncoding | None:
    for encoding in _BOMS:
        if raw.startswith(encoding.bom) and (encoding.codec != "utf-32-le" or _is_utf32(raw[4:], whole=whole)):
            return encoding
    return None


def _is_utf32(raw: bytes, *, whole: bool) -> bool:
    """Distinguish the mark of UTF-32 from that of UTF-16 followed by a NUL character."""
    probe = raw[:_BINARY_PROBE]
    if len(probe) % 4 and whole:
        return False
    try:
        probe[: len(probe) // 4 * 4].decode("utf-32-le")
    except UnicodeDecodeError:
        return False
    return True


def _detect_wide_without_bom(probe: bytes) -> TextEncoding | None:
    """Detect UTF-16 or UTF-32 by the share of common characters; other data with zeros is not text."""
    best: TextEncoding | None = None
    best_share = 0.6
    for encoding in _WIDE_WITHOUT_BOM:
        text = decode_sample(probe, encoding.codec, _WIDE_ERRORS)
        oddities = sum(map(_is_unexpected, text))
        share = sum(map(_is_common, text)) / max(len(text), 1)
        if len(text) > 1 and share > best_share and oddities <= 0.02 * len(text):
            best, best_share = encoding, share
    return best


def _is_unexpected(character: str) -> bool:
    return character not in "\t\n\r\f\x1b" and unicodedata.category(character) in ("Cc", "Cn", "Co", "Cs")


def _is_common(character: str) -> bool:
    """Whether a character is of a common alphabet or a common ideograph; swapped or random bytes make neither."""
    code = ord(character)
    return any(code in block for block in _COMMON_BLOCKS) or character in _common_ideographs()


_COMMON_BLOCKS = (
    range(0x0001, 0x0180),  # Latin
    range(0x0370, 0x0700),  # Greek to Arabic
    range(0x0901, 0x0F00),  # India, Thailand, Laos
    range(0x1E01, 0x2000),  # Vietnamese, old Greek
    range(0x2010, 0x2045),  # dashes, quotation marks
    range(0x3000, 0x3100),  # kana
    range(0xFF01, 0xFFF0),  # wide and narrow forms
    range(0x1F300, 0x1FB00),  # emoji
)


@cache
def _common_ideographs() -> frozenset[str]:
    return frozenset(tables.JAPANESE + tables.SIMPLIFIED + tables.TRADITIONAL + tables.KOREAN)


def _is_utf8(raw: bytes, *, whole: bool) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(raw)
    try:
        for start in range(0, len(raw), _CHUNK):
            decoder.decode(view[start : start + _CHUNK], final=whole and start + _CHUNK >= len(raw))
    except UnicodeDecodeError:
        return False
    return True


def _is_mostly_utf8(sample: bytes) -> bool:
    text = decode_sample(sample, "utf-8", "surrogateescape")
    broken = sum(1 for character in text if "\udc80" <= character <= "\udcff")
    characters = sum(1 for character in text if character > "\x7f") - broken
    return characters >= 4 * broken
