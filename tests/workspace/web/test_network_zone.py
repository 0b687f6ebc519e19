"""Where addresses and hosts lead."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.workspace.web.network_zone import (
    NetworkZone,
    classify_address,
    classify_host,
    is_ip_literal,
    parse_legacy_ipv4,
)

PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "198.17.0.1"]
PUBLIC_6 = ["2606:2800:220:1:248:1893:25c8:1946", "2a00:1450:4001::1", "2001:4860:4860::8888"]
PRIVATE = [
    *("127.0.0.1", "127.255.255.254", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1"),
    *("198.18.0.1", "198.19.255.255", "0.0.0.0", "::", "::1", "fc00::1", "fd12:3456::1"),
]
FORBIDDEN = [
    *("169.254.169.254", "169.254.0.1", "100.100.100.200", "0.0.0.1", "192.0.0.8", "192.0.2.1", "198.51.100.1"),
    *("203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "192.88.99.1"),
    *("fe80::1", "fe80::1%eth0", "ff02::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1"),
    *("64:ff9b:1::1", "2002:7f00:1::", "2001:0:53aa:64c::1", "2001:db8::1", "2001:10::1", "3fff::1", "fd00:ec2::254"),
    *("100::1", "5f00::1", "4000::1", "fec0::1", "::1%lo"),
]


@pytest.mark.parametrize("address", PUBLIC + PUBLIC_6)
def test_the_public_internet(address: str) -> None:
    assert classify_address(address) is NetworkZone.PUBLIC


@pytest.mark.parametrize("address", PRIVATE)
def test_ones_own_network(address: str) -> None:
    assert classify_address(address) is NetworkZone.PRIVATE


@pytest.mark.parametrize("address", FORBIDDEN)
def test_what_nobody_wants_to_reach(address: str) -> None:
    assert classify_address(address) is NetworkZone.FORBIDDEN


@given(st.ip_addresses(v=4))
def test_what_python_knows_to_be_private_is_never_public(address: IPv4Address) -> None:
    if address.is_private or address.is_multicast or address.is_reserved or address.is_link_local:
        assert classify_address(str(address)) is not NetworkZone.PUBLIC


@given(st.ip_addresses(v=6))
def test_of_the_new_addresses_too(address: IPv6Address) -> None:
    wraps = address.ipv4_mapped or address.sixtofour or address.teredo
    if wraps or not address.is_global or address.is_multicast or address.is_reserved:
        assert classify_address(str(address)) is not NetworkZone.PUBLIC


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_is_no_way_around(inner: IPv4Address) -> None:
    number = int(inner)
    wrapped = [number, (0xFFFF << 32) | number, (0x64FF9B << 96) | number, (0x2002 << 112) | (number << 80)]
    wrapped.append((0x20010000 << 96) | (number ^ 0xFFFFFFFF))
    assert NetworkZone.PUBLIC not in {classify_address(str(IPv6Address(each))) for each in wrapped}


@pytest.mark.parametrize(
    ("host", "place"),
    [
        ("localhost", NetworkZone.PRIVATE),
        ("app.localhost", NetworkZone.PRIVATE),
        ("localhost.", NetworkZone.PRIVATE),
        ("devbox", NetworkZone.PRIVATE),
        ("printer.local", NetworkZone.PRIVATE),
        ("nas.home.arpa", NetworkZone.PRIVATE),
        ("metadata.google.internal", NetworkZone.PRIVATE),
        ("127.0.0.1", NetworkZone.PRIVATE),
        ("[::1]", NetworkZone.PRIVATE),
        ("[fe80::1]", NetworkZone.FORBIDDEN),
        ("169.254.169.254", NetworkZone.FORBIDDEN),
        ("8.8.8.8", NetworkZone.PUBLIC),
        ("example.com", None),
        ("localhost.example.com", None),
        ("notlocal", NetworkZone.PRIVATE),
        ("a.notlocal", None),
    ],
)
def test_what_a_host_tells_by_its_spelling(host: str, place: NetworkZone | None) -> None:
    assert classify_host(host) is place


@pytest.mark.parametrize(
    ("host", "is_one"),
    [("127.0.0.1", True), ("[::1]", True), ("1.2.3", False), ("example.com", False), ("1.2.3.4.example", False)],
)
def test_what_is_an_address(host: str, is_one: bool) -> None:
    assert is_ip_literal(host) is is_one


@pytest.mark.parametrize(
    ("spelled", "address"),
    [
        ("127.1", "127.0.0.1"),
        ("127.0.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("0X7F.1", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("0x", "0.0.0.0"),
        ("127.0.0.1.", "127.0.0.1"),
        ("10.257", "10.0.1.1"),
        ("1.2.3.4", "1.2.3.4"),
        ("example.com", None),
        ("1.2.3.com", None),
        ("a1", None),
    ],
)
def test_old_spellings_of_addresses(spelled: str, address: str | None) -> None:
    assert parse_legacy_ipv4(spelled) == address


@pytest.mark.parametrize(
    "spelled", ["1.2.3.4.5", "256.1.1.1", "1.2.3.256", "4294967296", "09.0.0.1", "a.1", "1..1", "9" * 5000]
)
def test_numbers_that_are_no_address(spelled: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - it is caught as such
        parse_legacy_ipv4(spelled)
