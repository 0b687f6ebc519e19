"""Text of a web page from its bytes: charset detection, and HTML as Markdown."""

import codecs
import json
import re

from tejat.core.errors import TejatError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.workspace.files.media.library_worker import WorkerFailure, run_worker
from tejat.workspace.files.media.media_type import detect_media_type
from tejat.workspace.text.encoding import detect_encoding
from tejat.workspace.threads.stop import StopToken
from tejat.workspace.web import html_worker

MAX_HTML = 4_000_000
"""Characters of a page that are converted: a hundred times what a model gets of it."""


class PageText(Frozen):
    """`is_truncated`: there is more. `is_too_deep`: some of it was nested too deeply to be read."""

    text: str
    is_truncated: bool = False
    is_too_deep: bool = False


class PageFailure(TejatError):
    """A page could not be converted to text."""


def parse_mime_type(content_type: str) -> str:
    """Return the MIME type in lower case, without parameters."""
    return content_type.partition(";")[0].strip().lower()


def detect_mime_type(content_type: str, body: bytes) -> str:
    """Return the MIME type by the header; of media and without a header by the content; empty if neither tells."""
    declared = parse_mime_type(content_type)
    if declared and not declared.startswith(_MEDIA_TYPES):
        return declared
    return detect_media_type(body) or ("text/html" if is_html("", body) else declared)


def is_html(content_type: str, body: bytes) -> bool:
    """Whether it is HTML, by the header or, without one, by the beginning of the body."""
    mime_type = parse_mime_type(content_type)
    if mime_type:
        return mime_type in ("text/html", "application/xhtml+xml")
    return _HTML_START.match(body) is not None


def decode_body(content_type: str, body: bytes) -> str | None:
    """Decode the body, None if it is not text.

    In order of precedence: byte order mark, header, declaration in the page, detection.
    """
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(codec, "replace")
    named = _CHARSET.search(content_type)
    codec = _find_codec(named[1]) if named else None
    if codec is None and (inside := _CHARSET_INSIDE.search(body[:_HEAD_BYTES])):
        codec = _find_codec(inside[1].decode("ascii"))
    if codec is not None:
        return body.decode(codec, "replace")
    encoding = detect_encoding(body, whole=True)
    return None if encoding is None else body.decode(encoding.codec, "replace")


def convert_to_markdown(html: str, *, base_url: str, with_links: bool, limit: int, stop: StopToken) -> PageText:
    """Convert a page to at most `limit` characters of Markdown, without images, scripts and invisible content.

    Blocks; `stop` is called every 50 ms and its exceptions propagate. Raises PageFailure.
    """
    wishes = {"base_url": base_url, "with_links": with_links, "limit": limit}
    asked = json.dumps(wishes).encode("ascii") + b"\n" + html[:MAX_HTML].encode("utf-8", "replace")
    try:
        answer = run_worker(html_worker.__file__, "html_to_markdown", asked, seconds=_MAX_SECONDS, stop=stop)
    except WorkerFailure as failure:
        raise PageFailure(lazy("Could not convert the page's HTML. {why}", why=failure)) from None
    head, _, text = answer.partition(b"\n")
    outcome: dict[str, bool] = json.loads(head)
    is_truncated = outcome["was_cut"] or len(html) > MAX_HTML
    return PageText(text.decode("utf-8", "replace"), is_truncated=is_truncated, is_too_deep=outcome["is_too_deep"])


# The tags by which browsers recognise HTML.
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s{0,1000}(?:<\?xml\s[^<>]{0,200}>\s{0,100})?(?:<!--.{0,1000}?-->\s{0,100})?"
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|base|script|style|iframe|h[1-6]|div|main|article|section"
    rb"|header|nav|table|ul|ol|dl|form|font|center|pre|span|p|a|b|i|br|hr|img)[\s/>]",
    re.IGNORECASE | re.DOTALL,
)
_MEDIA_TYPES = ("image/", "application/pdf")
_HEAD_BYTES = 4096
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
_CHARSET_INSIDE = re.compile(
    rb"""(?:<meta\s[^<>]{0,300}?charset\s*=\s*|<\?xml\s[^<>?]{0,100}?encoding\s*=\s*)["']?([A-Za-z0-9_.:-]{1,40})""",
    re.IGNORECASE,
)
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# Servers often declare a subset of the actual encoding; browsers decode the superset.
_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
# Python has other codecs, some that decompress or take forever: pages must not choose those.
_ALLOWED_CODECS = re.compile(
    r"utf-8|utf-16(?:-[lb]e)?|cp125[0-8]|cp(?:866|874|932|949|950)|iso8859-(?:[2-8]|1[03-6])|koi8-[ru]|mac-roman"
    r"|gb18030|hz|big5hkscs|euc_jp|iso2022_jp"
)

_MAX_SECONDS = 15.0


def _find_codec(label: str) -> str | None:
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return None
    name = _SUPERSETS.get(name, name)
    return name if _ALLOWED_CODECS.fullmatch(name) else None
