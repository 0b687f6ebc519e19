"""Which proxy stands between us and whom."""

import pytest

from tejat.workspace.http.proxies import Proxy, ProxySettings
from tejat.workspace.http.types import HttpFailure, HttpFailureKind
from tejat.workspace.http.url import Origin, parse_url

ONE = Proxy(Origin("http", "one.test", 3128))
TWO = Proxy(Origin("http", "two.test", 3128))


def between(environment: dict[str, str], url: str) -> Proxy | None:
    return ProxySettings(environment).proxy_for(parse_url(url)[0])


@pytest.mark.parametrize(
    ("environment", "url", "proxy"),
    [
        ({}, "https://a.test", None),
        ({"HTTPS_PROXY": ""}, "https://a.test", None),
        ({"HTTPS_PROXY": "http://one.test:3128"}, "https://a.test", ONE),
        ({"HTTPS_PROXY": "http://one.test:3128"}, "http://a.test", None),
        ({"https_proxy": "http://one.test:3128", "HTTPS_PROXY": "http://two.test:3128"}, "https://a.test", ONE),
        ({"https_proxy": "", "HTTPS_PROXY": "http://two.test:3128"}, "https://a.test", TWO),
        ({"HTTP_PROXY": "http://one.test:3128"}, "http://a.test", ONE),
        ({"HTTP_PROXY": "http://one.test:3128", "REQUEST_METHOD": "GET"}, "http://a.test", None),
        ({"http_proxy": "http://one.test:3128", "REQUEST_METHOD": "GET"}, "http://a.test", ONE),
        ({"HTTPS_PROXY": "http://one.test:3128", "REQUEST_METHOD": "GET"}, "https://a.test", ONE),
        ({"ALL_PROXY": "http://one.test:3128"}, "http://a.test", ONE),
        ({"ALL_PROXY": "http://one.test:3128", "HTTPS_PROXY": "http://two.test:3128"}, "https://a.test", TWO),
        ({"ALL_PROXY": "one.test:3128"}, "http://a.test", ONE),
        ({"ALL_PROXY": " http://one.test:3128/ "}, "http://a.test", ONE),
        ({"ALL_PROXY": "http://one.test"}, "http://a.test", Proxy(Origin("http", "one.test", 1080))),
        ({"ALL_PROXY": "https://one.test"}, "http://a.test", Proxy(Origin("https", "one.test", 443))),
        ({"ALL_PROXY": "http://one.test:80"}, "http://a.test", Proxy(Origin("http", "one.test", 80))),
        ({"ALL_PROXY": "http://[::1]:3128"}, "http://a.test", Proxy(Origin("http", "::1", 3128))),
        (
            {"ALL_PROXY": "http://me:p%40ss@one.test:3128"},
            "http://a.test",
            Proxy(Origin("http", "one.test", 3128), "Basic bWU6cEBzcw=="),
        ),
        (
            {"ALL_PROXY": "me:p@/s@one.test:1"},
            "http://a.test",
            Proxy(Origin("http", "one.test", 1), "Basic bWU6cEAvcw=="),
        ),
        ({"ALL_PROXY": "http://me@one.test:1"}, "http://a.test", Proxy(Origin("http", "one.test", 1), "Basic bWU6")),
    ],
)
def test_what_the_variables_say(environment: dict[str, str], url: str, proxy: Proxy | None) -> None:
    assert between(environment, url) == proxy


@pytest.mark.parametrize(
    ("url", "is_proxied"),
    [
        ("http://localhost:11434", False),
        ("http://LOCALHOST./", False),
        ("http://api.localhost", False),
        ("http://127.0.0.1", False),
        ("http://127.8.9.1", False),
        ("http://[::1]", False),
        ("http://notlocalhost", True),
        ("http://localhost.test", True),
        ("http://192.168.0.1", True),
        ("http://[fd00::1]", True),
    ],
)
def test_this_machine_is_reached_without_a_proxy(url: str, is_proxied: bool) -> None:
    assert between({"ALL_PROXY": "http://one.test:3128"}, url) == (ONE if is_proxied else None)


@pytest.mark.parametrize(
    ("exceptions", "url", "is_proxied"),
    [
        ("", "http://a.test", True),
        (",, ,", "http://a.test", True),
        ("*", "http://a.test", False),
        ("b.test", "http://a.test", True),
        ("a.test", "http://a.test", False),
        ("A.TEST", "http://a.test", False),
        ("a.test", "http://a.test.", False),
        ("a.test.", "http://a.test", False),
        ("a.test", "http://x.y.a.test", False),
        (".a.test", "http://x.a.test", False),
        (".a.test", "http://a.test", False),
        ("*.a.test", "http://x.a.test", False),
        ("a.test", "http://xa.test", True),
        ("a.test", "http://a.test.b", True),
        (".", "http://a.test", True),
        ("b.test, a.test", "http://a.test", False),
        ("b.test a.test", "http://a.test", False),
        ("a.test:8080", "http://a.test:8080", False),
        ("a.test:8080", "http://a.test", True),
        ("a.test:80", "http://a.test", False),
        ("a.test:443", "https://a.test", False),
        ("10.1.2.3", "http://10.1.2.3", False),
        ("10.1.2.3:80", "http://10.1.2.3:81", True),
        ("2.3", "http://10.1.2.3", False),
        ("10.0.0.0/8", "http://10.1.2.3", False),
        ("10.0.0.1/8", "http://10.1.2.3", False),
        ("10.0.0.0/8", "http://11.1.2.3", True),
        ("10.0.0.0/8", "http://a.test", True),
        ("10.0.0.0/99", "http://10.1.2.3", True),
        ("fd00::/8", "http://[fd00::1]", False),
        ("10.0.0.0/8", "http://[fd00::1]", True),
        ("fd00::1", "http://[fd00::1]", False),
        ("fd00:0:0::1", "http://[fd00::1]", False),
        ("[fd00::1]", "http://[fd00::1]", False),
        ("[fd00::1]:80", "http://[fd00::1]", False),
        ("[fd00::1]:81", "http://[fd00::1]", True),
        ("fd00::2", "http://[fd00::1]", True),
    ],
)
def test_exceptions(exceptions: str, url: str, is_proxied: bool) -> None:
    environment = {"ALL_PROXY": "http://one.test:3128", "NO_PROXY": exceptions}
    assert between(environment, url) == (ONE if is_proxied else None)


@pytest.mark.parametrize(
    "value",
    [
        "http://",
        "http://secret@",
        "http://one.test:x",
        "http://[::1",
        "socks5://me:secret@one.test:1",
        "://",
        "a b:c:d",
        "http://one,two:1",
        "http://ü..x:1",
        "http://one.test:99999",
    ],
)
def test_a_proxy_that_makes_no_sense_is_named_by_its_variable(value: str) -> None:
    with pytest.raises(HttpFailure) as caught:
        between({"https_proxy": value}, "https://a.test")
    assert caught.value.kind is HttpFailureKind.PROXY
    assert "https_proxy" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_broken_proxy_does_not_matter_to_whom_it_is_not_for() -> None:
    environment = {"https_proxy": "http://", "no_proxy": "a.test"}
    assert between(environment, "http://b.test") is None
    assert between(environment, "https://a.test") is None
    assert between(environment, "https://localhost") is None


def test_a_password_is_not_shown() -> None:
    proxy = between({"ALL_PROXY": "http://me:secret@one.test:3128"}, "http://a.test")
    assert proxy is not None
    assert repr(proxy) == "Proxy(origin=Origin(scheme='http', host='one.test', port=3128))"
