"""URLs of web pages: extraction from text, validation, normalisation."""

import re
from ipaddress import IPv6Address
from urllib.parse import quote, urljoin, urlsplit

from tejat.core.errors import TejatError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy, map_lazy
from tejat.core.text.str_enum import StrEnum
from tejat.workspace.web.network_zone import parse_legacy_ipv4

MAX_URL_LENGTH = 8_192
"""Servers refuse longer URLs, and users cannot review them."""


class Url(Frozen):
    """A normalised URL. `host` is lower-case ASCII or a canonical address, IPv6 in brackets.

    `port` is None for the default port. `target` is path and query; fragments are dropped.
    """

    scheme: str
    host: str
    port: int | None
    target: str

    def __str__(self) -> str:
        return f"{self.origin}{self.target}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}" + ("" if self.port is None else f":{self.port}")

    @property
    def effective_port(self) -> int:
        return _DEFAULT_PORTS[self.scheme] if self.port is None else self.port

    @property
    def dedup_key(self) -> str:
        """The same for URLs that differ only in a trailing slash."""
        path, question_mark, query = self.target.partition("?")
        return f"{self.origin}{path.rstrip('/')}{question_mark}{query}"

    def join(self, reference: str) -> "Url":
        """Resolve a reference against this URL. Raises InvalidUrl."""
        try:
            return parse_url(urljoin(str(self), reference.strip(_BLANKS)))
        except ValueError:
            raise InvalidUrl(UrlProblem.MALFORMED) from None


class UrlProblem(StrEnum):
    MALFORMED = "malformed"
    UNSUPPORTED_SCHEME = "unsupported_scheme"
    HAS_CREDENTIALS = "has_credentials"
    TOO_LONG = "too_long"


class InvalidUrl(TejatError):
    """A text is not a valid web URL. The message does not repeat it: it may contain a secret."""

    def __init__(self, problem: UrlProblem) -> None:
        super().__init__(_MESSAGES[problem])
        self.problem = problem


class FoundUrls(Frozen):
    """The URLs in a text, and problems with words that look like one, for the model."""

    urls: tuple[Url, ...]
    problems: tuple[str, ...]


def find_urls(text: str) -> FoundUrls:
    """Find URLs: every word with `://`, without surrounding brackets and quotation marks."""
    urls: list[Url] = []
    problems: list[str] = []
    for word in text.split():
        if "://" not in word:
            continue
        bare = _unwrap(word)
        try:
            urls.append(parse_url(bare))
        except InvalidUrl as bad:
            problems.append(_describe_problem(bad.problem, bare))
    return FoundUrls(tuple(urls), tuple(problems))


def parse_url(text: str) -> Url:
    """Parse an http or https URL. Raises InvalidUrl."""
    if len(text) > MAX_URL_LENGTH:
        raise InvalidUrl(UrlProblem.TOO_LONG)
    scheme = text.partition(":")[0].lower()
    if scheme not in _DEFAULT_PORTS:
        raise InvalidUrl(UrlProblem.UNSUPPORTED_SCHEME if _SCHEME.fullmatch(scheme) else UrlProblem.MALFORMED)
    if _FORBIDDEN_CHARACTERS.search(text):
        raise InvalidUrl(UrlProblem.MALFORMED)
    try:
        parts = urlsplit(text)
        host, port = _normalize_host(parts.hostname or ""), parts.port
    except ValueError:  # UnicodeError is one too
        raise InvalidUrl(UrlProblem.MALFORMED) from None
    if "@" in parts.netloc:
        raise InvalidUrl(UrlProblem.HAS_CREDENTIALS)
    has_bad_brackets = ("[" in parts.netloc or "]" in parts.netloc) and not _BRACKETED.fullmatch(parts.netloc)
    if has_bad_brackets or port == 0 or not text[len(scheme) :].startswith("://"):
        raise InvalidUrl(UrlProblem.MALFORMED)
    path = quote(parts.path or "/", safe=_SAFE)
    query = f"?{quote(parts.query, safe=_SAFE + '?')}" if parts.query else ""
    return Url(scheme, host, None if port == _DEFAULT_PORTS[scheme] else port, path + query)


def github_raw_url(url: Url) -> Url:
    """Return the raw file for a GitHub page that shows one; other URLs unchanged."""
    shown = _GITHUB_FILE.fullmatch(url.target)
    if url.host != "github.com" or url.port is not None or shown is None:
        return url
    return replace(url, host="raw.githubusercontent.com", target=f"{shown['repository']}/{shown['file']}")


_DEFAULT_PORTS = {"http": 80, "https": 443}
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_BLANKS = " \t\r\n\f"
_FORBIDDEN_CHARACTERS = re.compile(r"[\x00-\x20\x7f-\x9f\\\ud800-\udfff]")
_HOST = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?")
_BRACKETED = re.compile(r"\[[0-9A-Fa-f.]*:[0-9A-Fa-f.:]*\](?::\d*)?")
_MAX_HOST = 253
_SAFE = "/%:@!$&'()*+,;=~-._|[]"
_GITHUB_FILE = re.compile(r"(?P<repository>/[^/?]+/[^/?]+)/blob/(?P<file>.+)")

_WRAPPINGS = {"<": ">", "(": ")", "[": "]", '"': '"', "'": "'", "`": "`", "“": "”", "«": "»"}
_PUNCTUATION = ".,;:!?"

_MESSAGES = {
    UrlProblem.MALFORMED: lazy("The URL is malformed."),
    UrlProblem.UNSUPPORTED_SCHEME: lazy("Only http and https are supported."),
    UrlProblem.HAS_CREDENTIALS: lazy("URLs with a user name or password are not fetched."),
    UrlProblem.TOO_LONG: lazy("The URL is longer than {most} characters.", most=MAX_URL_LENGTH),
}


def _normalize_host(given: str) -> str:
    """Raises ValueError."""
    if ":" in given:
        address = IPv6Address(given)
        if address.scope_id is not None:
            raise ValueError("a zone means something on one machine only")
        return f"[{address}]"
    if len(given) > _MAX_HOST:
        raise ValueError("too long for a name")
    name = given.lower() if given.isascii() else given.encode("idna").decode("ascii").lower()
    if not _HOST.fullmatch(name):
        raise ValueError("no name that can be looked up")
    return parse_legacy_ipv4(name) or name


def _unwrap(word: str) -> str:
    if "](" in word:  # a link in Markdown
        word = "(" + word.rpartition("](")[2]
    while closing := _WRAPPINGS.get(word[:1]):
        inside = word[1:].rstrip(_PUNCTUATION)
        word = inside.removesuffix(closing) if inside.endswith(closing) else word[1:]
    return word


def _describe_problem(problem: UrlProblem, word: str) -> str:
    if len(word) > 200:
        word = f"{word[:197]}..."
    match problem:
        case UrlProblem.MALFORMED:
            return lazy('Malformed URL detected: "{word}".', word=word)
        case UrlProblem.UNSUPPORTED_SCHEME:
            return lazy('Unsupported protocol in URL: "{word}". Only http and https are supported.', word=word)
        case UrlProblem.HAS_CREDENTIALS | UrlProblem.TOO_LONG:
            words = map_lazy(_MESSAGES[problem], lambda text: text.removesuffix("."))
            return lazy('{words}: "{word}".', words=words, word=word)
