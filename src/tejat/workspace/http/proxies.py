"""Proxy selection from the usual environment variables."""

import base64
import ipaddress
from collections.abc import Mapping
from urllib.parse import unquote

from tejat.core.frozen import Frozen, field
from tejat.core.i18n import lazy
from tejat.workspace.http.types import HttpFailure, HttpFailureKind
from tejat.workspace.http.url import DEFAULT_PORTS, Origin, parse_url

_DEFAULT_PORT = 1080


class Proxy(Frozen):
    """A proxy. `authorization` is the value of its Proxy-Authorization header, or empty."""

    origin: Origin
    authorization: str = field(default="", repr=False)

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """Headers for the proxy only."""
        return (("Proxy-Authorization", self.authorization),) if self.authorization else ()


class ProxySettings:
    """Proxy settings of an environment. Lower case takes precedence, as does a scheme's variable over ALL_PROXY.

    Localhost is never reached through a proxy, whose localhost is another machine. Go does the same, curl does not.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._no_proxy = _variable(environment, "no_proxy").replace(",", " ").split()

    def proxy_for(self, origin: Origin) -> Proxy | None:
        """Return the proxy for this server. Raises HttpFailure with PROXY if its variable is invalid."""
        names = [f"{origin.scheme}_proxy", "all_proxy"]
        found = next(((name, value) for name in names if (value := _variable(self._environment, name))), None)
        is_bypassed = any(_matches_no_proxy(exception, origin) for exception in self._no_proxy)
        return None if found is None or is_bypassed or _is_localhost(origin.host) else _parse_proxy(*found)


def _variable(environment: Mapping[str, str], name: str) -> str:
    # In CGI scripts, HTTP_PROXY is the request's Proxy header.
    is_forged = name == "http_proxy" and "REQUEST_METHOD" in environment
    capitals = "" if is_forged else environment.get(name.upper(), "")
    return (environment.get(name) or capitals).strip()


def _is_localhost(host: str) -> bool:
    if host.lower().rstrip(".") == "localhost" or host.lower().rstrip(".").endswith(".localhost"):
        return True
    address = _parse_ip(host)
    return address is not None and address.is_loopback


def _matches_no_proxy(exception: str, origin: Origin) -> bool:
    if exception == "*":
        return True
    if "/" in exception:
        return _is_in_network(origin.host, exception)
    host, port = _split_port(exception)
    if port is not None and port != origin.port:
        return False
    address = _parse_ip(host)
    if address is not None:
        return address == _parse_ip(origin.host)
    name = origin.host.lower().rstrip(".")
    domain = host.lower().removeprefix("*").strip(".")
    return bool(domain) and (name == domain or name.endswith(f".{domain}"))


def _split_port(exception: str) -> tuple[str, int | None]:
    """Split off the port, if any; an IPv6 address without a port may lack brackets."""
    host, _, port = exception.rpartition(":")
    if not port.isdecimal() or (":" in host and not host.endswith("]")):
        host, port = exception, ""
    return host.removeprefix("[").removesuffix("]"), int(port) if port else None


def _is_in_network(host: str, network: str) -> bool:
    address = _parse_ip(host)
    try:
        return address is not None and address in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def _parse_ip(host: str) -> "ipaddress.IPv4Address | ipaddress.IPv6Address | None":
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _parse_proxy(variable: str, value: str) -> Proxy:
    scheme, _, rest = (value if "://" in value else f"http://{value}").partition("://")
    scheme = scheme.lower()
    if scheme not in DEFAULT_PORTS:
        message = lazy("The proxy in {variable} has an unknown scheme. Use http or https.", variable=variable)
        if scheme.isalnum() and len(scheme) < 10:
            message = lazy(
                "The proxy in {variable} uses {scheme}. Use http or https.",
                variable=variable,
                scheme=scheme,
            )
        raise HttpFailure(message, HttpFailureKind.PROXY)
    userinfo, at, server = rest.rpartition("@")
    server = server.partition("/")[0]
    origin = _parse_origin(f"{scheme}://{server}")
    if origin is None:
        raise HttpFailure(
            lazy("The proxy in {variable} is not a valid address.", variable=variable), HttpFailureKind.PROXY
        )
    if scheme == "http" and not server.endswith(f":{origin.port}"):
        origin = Origin(scheme, origin.host, _DEFAULT_PORT)
    return Proxy(origin, _authorization(userinfo) if at else "")


def _parse_origin(url: str) -> Origin | None:
    try:
        return parse_url(url)[0]
    except HttpFailure:
        return None


def _authorization(userinfo: str) -> str:
    name, _, password = userinfo.partition(":")
    pair = f"{unquote(name)}:{unquote(password)}"
    return f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"
