"""Where a URL leads: its origin and the target to ask for there."""

import re
from dataclasses import dataclass
from ipaddress import IPv6Address
from urllib.parse import quote, urlsplit

from tejat.workspace.http.values import HttpFailure, HttpProblem

DEFAULT_PORTS = {"http": 80, "https": 443}

_NOT_IN_A_URL = re.compile(r"[\x00-\x20\x7f\\]")
_HOST_NAME = re.compile(r"[A-Za-z0-9._~-]{1,253}")


@dataclass(frozen=True, slots=True)
class Origin:
    """A server: `host` is in ASCII and without brackets."""

    scheme: str
    host: str
    port: int

    @property
    def is_secure(self) -> bool:
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """Host and port as they stand in a CONNECT request and in messages."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def host_header(self) -> str:
        """Host and port as they stand in a Host header: a usual port goes without saying."""
        if self.port == DEFAULT_PORTS[self.scheme]:
            return self.authority.removesuffix(f":{self.port}")
        return self.authority


def read_url(url: str) -> tuple[Origin, str]:
    """The origin of a URL, and its path with the query. A fragment is left out: it is not for the server.

    Raises HttpFailure with BAD_URL. The message never repeats the URL: there may be a secret in it.
    """
    if _NOT_IN_A_URL.search(url):
        raise _bad_url("has blanks, control characters or backslashes")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = None, "", None
    if parts is None:
        raise _bad_url("cannot be read")
    if parts.scheme not in DEFAULT_PORTS:
        raise _bad_url("does not begin with http:// or https://")
    if "@" in parts.netloc:
        raise _bad_url("has a name or password in it, which belong into a header")
    if port == 0:
        raise _bad_url("has a port that does not exist")
    origin = Origin(parts.scheme, _ascii_host(host), port or DEFAULT_PORTS[parts.scheme])
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._|[]{}^\"<>`")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?|[]{}^\"<>`")
    return origin, f"{path}?{query}" if query else path


def _ascii_host(host: str) -> str:
    if ":" in host:
        if not _is_ipv6(host):
            raise _bad_url("has a host that is no address")
        return host
    try:
        name = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        name = ""
    if not _HOST_NAME.fullmatch(name):
        raise _bad_url("has no host that can be looked up")
    return name


def _is_ipv6(host: str) -> bool:
    """Whether it is an address that means the same on every machine: with a zone it does not."""
    try:
        return IPv6Address(host).scope_id is None
    except ValueError:
        return False


def _bad_url(why: str) -> HttpFailure:
    return HttpFailure(f"The URL {why}.", HttpProblem.BAD_URL)
