"""Which proxy, if any, stands between us and a server, as the usual environment variables say."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from urllib.parse import unquote, urlsplit

from tejat.workspace.http.address import DEFAULT_PORTS, Origin
from tejat.workspace.http.values import HttpFailure, HttpProblem

_USUAL_PORTS = {**DEFAULT_PORTS, "http": 1080}
_EXCEPTION = re.compile(r"(?:\[(?P<bracketed>[^\]]*)\]|(?P<host>[^:]*))(?::(?P<port>\d+))?")


@dataclass(frozen=True, slots=True)
class Proxy:
    """`authorization` is the value of the header that the proxy wants, or empty."""

    origin: Origin
    authorization: str = field(default="", repr=False)


class Proxies:
    """The proxies of one environment. Small letters win over capitals, a variable for one scheme over ALL_PROXY.

    This machine itself is never reached through a proxy, whose `localhost` is not ours. Go does the same, curl does not.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._exceptions = _variable(environment, "no_proxy").replace(",", " ").split()

    def between(self, origin: Origin) -> Proxy | None:
        """The proxy to reach this server through. Raises HttpFailure with PROXY when its variable makes no sense."""
        names = [f"{origin.scheme}_proxy", "all_proxy"]
        found = next(((name, value) for name in names if (value := _variable(self._environment, name))), None)
        if found is None or _is_this_machine(origin.host) or self._is_excepted(origin):
            return None
        return _read_proxy(*found)

    def _is_excepted(self, origin: Origin) -> bool:
        return any(_excepts(exception, origin) for exception in self._exceptions)


def _variable(environment: Mapping[str, str], name: str) -> str:
    # A web server hands a request's Proxy header to its scripts as HTTP_PROXY.
    is_forged = name == "http_proxy" and "REQUEST_METHOD" in environment
    capitals = "" if is_forged else environment.get(name.upper(), "")
    return (environment.get(name) or capitals).strip()


def _is_this_machine(host: str) -> bool:
    if host.lower().rstrip(".") == "localhost" or host.lower().rstrip(".").endswith(".localhost"):
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def _excepts(exception: str, origin: Origin) -> bool:
    if exception == "*":
        return True
    if "/" in exception:
        return _is_within(origin.host, exception)
    host, port = _split(exception)
    if port is not None and port != origin.port:
        return False
    address = _address(host)
    if address is not None:
        return address == _address(origin.host)
    name = origin.host.lower().rstrip(".")
    domain = host.lower().removeprefix("*").strip(".")
    return bool(domain) and (name == domain or name.endswith(f".{domain}"))


def _split(exception: str) -> tuple[str, int | None]:
    found = _EXCEPTION.fullmatch(exception)
    if found is None:  # an IPv6 address without brackets
        return exception, None
    port = found["port"]
    return found["bracketed"] or found["host"] or "", None if port is None else int(port)


def _is_within(host: str, network: str) -> bool:
    address = _address(host)
    try:
        return address is not None and address in ip_network(network, strict=False)
    except ValueError:
        return False


def _address(host: str):
    try:
        return ip_address(host)
    except ValueError:
        return None


def _read_proxy(variable: str, value: str) -> Proxy:
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = None, "", None
    if parts is None or not host:
        raise HttpFailure(f"The proxy in {variable} cannot be read.", HttpProblem.PROXY)
    if parts.scheme not in DEFAULT_PORTS:
        raise HttpFailure(
            f"The proxy in {variable} is of the kind {parts.scheme[:20]}, and only http and https are known.",
            HttpProblem.PROXY,
        )
    return Proxy(
        Origin(parts.scheme, host, port or _USUAL_PORTS[parts.scheme]), _authorization(parts.username, parts.password)
    )


def _authorization(name: str | None, password: str | None) -> str:
    if name is None and password is None:
        return ""
    pair = f"{unquote(name or '')}:{unquote(password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"
