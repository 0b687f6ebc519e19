"""Texts as editors show them, compared with the bytes of files."""

import hashlib
import re
from collections.abc import Iterator

from tejat.core.frozen import Frozen
from tejat.workspace.text.encoding import TextEncoding, detect_encoding

BOM = "\ufeff"

_UNDECODABLE = re.compile("[\ufffd\ud800-\udfff]+")


class TextForm(Frozen):
    """How an editor shows a saved file: CRLF as it is or as LF, the byte order mark, the newline at the end."""

    shows_carriage_returns: bool = False
    hides_carriage_returns: bool = False
    shows_bom: bool = False
    hides_last_newline: bool = False


PLAIN_FORM = TextForm()


def normalize_text(text: str) -> str:
    """The text without byte order mark, with LF as the only line ending."""
    text = text.removeprefix(BOM)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def text_digest(text: str) -> bytes:
    """A digest that is equal for texts that differ only in byte order mark and line endings."""
    return hashlib.sha256(normalize_text(text).encode("utf-8", "surrogatepass")).digest()


def has_digest(raw: bytes, digest: bytes) -> bool:
    """Whether bytes are the text that has this digest."""
    encoding = detect_encoding(raw, whole=True)
    return encoding is not None and text_digest(encoding.decode(raw)) == digest


def is_valid_text(text: str) -> bool:
    """Whether a text can be encoded: it has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def encode_buffer(text: str) -> tuple[bytes, TextEncoding]:
    """Return a valid text as UTF-8, and its encoding, with the byte order mark that it may show."""
    mark = BOM.encode() if text.startswith(BOM) else b""
    return text.encode(), TextEncoding("utf-8", mark)


def find_form(text: str, raw: bytes) -> TextForm | None:
    """Return how an editor shows the bytes of a file, None if its text is another one.

    An editor may decode a legacy encoding wrongly: a text that is one of the likely misreadings is the same.
    """
    shown = _comparable(text)
    for saved in _readings(raw):
        plain = shown if text == saved else _comparable(saved)
        is_cut = plain == f"{shown}\n"
        if plain == shown or is_cut:
            return TextForm(
                shows_carriage_returns="\r" in text,
                hides_carriage_returns="\r" in saved and "\r" not in text,
                shows_bom=saved.startswith(BOM) and text.startswith(BOM),
                hides_last_newline=is_cut,
            )
    return None


def has_same_text(text: str, raw: bytes) -> bool:
    """Whether bytes are a text in any encoding and with any line endings."""
    encoding = detect_encoding(raw, whole=True)
    return encoding is not None and normalize_text(encoding.decode(raw)) == normalize_text(text)


def is_misread(text: str, raw: bytes) -> bool:
    """Whether the editor could not decode the file: saving its text would destroy characters."""
    encoding = detect_encoding(raw, whole=True)
    return "\ufffd" in text and (encoding is None or "\ufffd" not in encoding.decode(raw))


def shown_text(raw: bytes, form: TextForm) -> str | None:
    """Return the text by which an editor with this form saves exactly these bytes, None if there may be none.

    That needs UTF-8, and line endings that are all alike.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if "\0" in text or (text.startswith(BOM) and not form.shows_bom):
        return None
    if "\r" in text:
        if not text.count("\r\n") == text.count("\r") == text.count("\n"):
            return None
        if not form.shows_carriage_returns and not form.hides_carriage_returns:
            return None
        text = text.replace("\r\n", "\n") if form.hides_carriage_returns else text
    elif "\n" in text and (form.shows_carriage_returns or form.hides_carriage_returns):
        return None
    return text.removesuffix("\n") if form.hides_last_newline else text


def _readings(raw: bytes) -> Iterator[str]:
    """The texts that an editor may show for these bytes, the byte order mark of Unicode included."""
    encoding = detect_encoding(raw, whole=True)
    if encoding is not None:
        mark = BOM if encoding.bom and raw.startswith(encoding.bom) else ""
        yield mark + encoding.decode(raw)
    if encoding is None or encoding.codec != "utf-8" or not _is_utf8(raw):
        yield raw.decode("utf-8", "replace")
        yield raw.decode("latin-1")
        yield raw.decode("cp1252", "replace")


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _comparable(text: str) -> str:
    """The normalized text; decoders disagree on how many replacement characters stand for broken bytes."""
    return _UNDECODABLE.sub("\ufffd", normalize_text(text))
