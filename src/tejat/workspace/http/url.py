"""URL parsing into origin and request target."""

import ipaddress
from urllib.parse import quote, urlsplit

from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.workspace.http.types import HttpFailure, HttpFailureKind

DEFAULT_PORTS = {"http": 80, "https": 443}

_PATH_CHARACTERS = "/%:@!$&'()*+,;=~|[]"


class Origin(Frozen):
    """Scheme, host and port of a server. The host is ASCII and has no brackets."""

    scheme: str
    host: str
    port: int

    @property
    def is_secure(self) -> bool:
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """Host and port for CONNECT requests and messages."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def host_header(self) -> str:
        """Value of the Host header, without a default port."""
        if self.port == DEFAULT_PORTS[self.scheme]:
            return self.authority.removesuffix(f":{self.port}")
        return self.authority


def parse_url(url: str) -> tuple[Origin, str]:
    """Return the origin of a URL and its path with the query; the fragment is dropped.

    Raises HttpFailure with BAD_URL. The message never quotes the URL: it may hold a secret.
    """
    if not url.isprintable() or " " in url or "\\" in url:
        raise _invalid_url(lazy("The URL contains whitespace, control characters or backslashes."))
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = None, "", None
    if parts is None:
        raise _invalid_url(lazy("The URL is invalid."))
    if parts.scheme not in DEFAULT_PORTS:
        raise _invalid_url(lazy("The URL must start with http:// or https://."))
    if "@" in parts.netloc:
        raise _invalid_url(lazy("The URL contains a user name or password. Use a header instead."))
    if port == 0:
        raise _invalid_url(lazy("The URL has an invalid port."))
    written = f"[{host}]" if ":" in host else host
    if not f"{parts.netloc.lower()}:".startswith(f"{written}:"):
        raise _invalid_url(lazy("The URL has misplaced brackets in its host."))
    origin = Origin(parts.scheme, _ascii_host(host), port or DEFAULT_PORTS[parts.scheme])
    path = quote(parts.path or "/", safe=_PATH_CHARACTERS)
    query = quote(parts.query, safe=f"{_PATH_CHARACTERS}?")
    return origin, f"{path}?{query}" if query else path


def _ascii_host(host: str) -> str:
    if ":" in host:
        if not _is_ipv6(host):
            raise _invalid_url(lazy("The URL has an invalid host address."))
        return host
    try:
        name = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        name = ""
    if len(name) > 253 or not all(map(_is_label, name.removesuffix(".").split("."))):
        raise _invalid_url(lazy("The URL has an invalid host."))
    return name


def _is_label(label: str) -> bool:
    return len(label) <= 63 and label.replace("-", "").replace("_", "").isalnum()


def _is_ipv6(host: str) -> bool:
    """Return whether it is an IPv6 address without a zone, which would be local to one machine."""
    try:
        return ipaddress.IPv6Address(host).scope_id is None
    except ValueError:
        return False


def _invalid_url(message: str) -> HttpFailure:
    return HttpFailure(message, HttpFailureKind.BAD_URL)
