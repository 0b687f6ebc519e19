"""Classification of addresses and host names: public, private or forbidden."""

import re
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from tejat.core.text.str_enum import StrEnum


class NetworkZone(StrEnum):
    """The network zone of an address."""

    PUBLIC = "public"
    PRIVATE = "private"
    """This machine or a private network: only with the user's consent."""
    FORBIDDEN = "forbidden"
    """Never a web page: cloud metadata, multicast, reserved, and embedded addresses."""


def classify_address(address: str) -> NetworkZone:
    """Classify a literal address. Raises ValueError if it is not one."""
    parsed = ip_address(address)
    is_ipv6 = isinstance(parsed, IPv6Address)
    if (is_ipv6 and parsed.scope_id is not None) or _is_in(parsed, _METADATA):
        return NetworkZone.FORBIDDEN
    if _is_in(parsed, _PRIVATE):
        return NetworkZone.PRIVATE
    if _is_in(parsed, _RESERVED) or (is_ipv6 and not _is_in(parsed, _GLOBAL_UNICAST)):
        return NetworkZone.FORBIDDEN
    return NetworkZone.PUBLIC


def classify_host(host: str) -> NetworkZone | None:
    """Classify a host by its spelling; None for a name that has to be resolved.

    `host` is normalised by `urls.parse_url`. A name outside the public registries is private.
    """
    try:
        return classify_address(host.strip("[]"))
    except ValueError:
        return NetworkZone.PRIVATE if _is_local_name(host) else None


def is_ip_literal(host: str) -> bool:
    """Whether the host is an IP address."""
    return host.startswith("[") or _DOTTED_QUAD.fullmatch(host) is not None


def parse_legacy_ipv4(host: str) -> str | None:
    """Return the dotted form of an IPv4 address in a legacy notation, None for a name.

    `127.1`, `2130706433`, `0x7f.1` and `0177.0.0.1` are all 127.0.0.1 to most resolvers. Raises ValueError for numbers
    that are not an address.
    """
    parts = host.removesuffix(".").split(".")
    if not _NUMBER.fullmatch(parts[-1]):
        return None
    if len(parts) > 4:
        raise ValueError(f"{host} is no address")
    *leading, last = [_parse_number(part) for part in parts]
    if any(number > 255 for number in leading) or last >= 256 ** (4 - len(leading)):
        raise ValueError(f"{host} is no address")
    high = sum(number << (24 - 8 * index) for index, number in enumerate(leading))
    return str(IPv4Address(high + last))


_DOTTED_QUAD = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|\d+")
_MAX_NUMBER_LENGTH = 64

_LOCAL_TLDS = ("localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "private", "test")
_LOCAL_ZONES = (".home.arpa",)


def _parse_number(text: str) -> int:
    if not _NUMBER.fullmatch(text) or len(text) > _MAX_NUMBER_LENGTH:
        raise ValueError(f"{text} is no part of an address")
    if text[:2] in ("0x", "0X"):
        return int(text[2:] or "0", 16)
    return int(text, 8) if text.startswith("0") and len(text) > 1 else int(text)


def _is_local_name(host: str) -> bool:
    name = host.removesuffix(".")
    return "." not in name or name.rpartition(".")[2] in _LOCAL_TLDS or name.endswith(_LOCAL_ZONES)


# Where clouds hand out keys, besides the link-local addresses below.
_METADATA = ("100.100.100.200/32", "fd00:ec2::/32")
_PRIVATE = (
    "0.0.0.0/32",  # printed by servers that listen on all interfaces; it leads to this machine
    "10.0.0.0/8",
    "100.64.0.0/10",  # networks of providers, and of VPNs
    "127.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "198.18.0.0/15",  # for benchmarks, and for the made-up answers of some VPNs
    "::/128",
    "::1/128",
    "fc00::/7",
)
_RESERVED = (
    "0.0.0.0/8",
    "169.254.0.0/16",  # link-local, where clouds hand out keys
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "2001::/23",  # Teredo, benchmarks, ORCHID
    "2001:db8::/32",
    "2002::/16",  # 6to4
    "3fff::/20",
)
_GLOBAL_UNICAST = ("2000::/3",)


def _is_in(address: IPv4Address | IPv6Address, table: tuple[str, ...]) -> bool:
    return any(address in network for network in _networks(table))


@cache
def _networks(table: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(map(ip_network, table))
