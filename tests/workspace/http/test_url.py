"""Where a URL leads, and which URLs lead nowhere."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.workspace.http.types import HttpFailure, HttpFailureKind
from tejat.workspace.http.url import Origin, parse_url

HTTP = Origin("http", "a.test", 80)
HTTPS = Origin("https", "a.test", 443)


@pytest.mark.parametrize(
    ("url", "origin", "target"),
    [
        ("http://a.test", HTTP, "/"),
        ("http://a.test?q", HTTP, "/?q"),
        ("HTTPS://A.Test/b/c?d=e&f#g", HTTPS, "/b/c?d=e&f"),
        ("http://a.test:8080/", Origin("http", "a.test", 8080), "/"),
        ("http://a.test:/", HTTP, "/"),
        ("http://127.0.0.1:1/", Origin("http", "127.0.0.1", 1), "/"),
        ("http://[::1]:81/x", Origin("http", "::1", 81), "/x"),
        ("http://a_b.test/", Origin("http", "a_b.test", 80), "/"),
        ("http://a.test./", Origin("http", "a.test.", 80), "/"),
        ("http://bücher.test/", Origin("http", "xn--bcher-kva.test", 80), "/"),
        ("http://a.test/ü?ö=%C3%A4", HTTP, "/%C3%BC?%C3%B6=%C3%A4"),
        ("http://a.test/v1beta/models/m-1.5:stream?alt=sse", HTTP, "/v1beta/models/m-1.5:stream?alt=sse"),
        ("http://a.test/a%2Fb/%7e~", HTTP, "/a%2Fb/%7e~"),
        ('http://a.test/"<x>"', HTTP, "/%22%3Cx%3E%22"),
        ("http://a.test//b", HTTP, "//b"),
    ],
)
def test_urls_that_lead_somewhere(url: str, origin: Origin, target: str) -> None:
    assert parse_url(url) == (origin, target)


@pytest.mark.parametrize(
    "url",
    [
        *("", "a.test", "//a.test", "http:", "http://", "http:///x", "file:///etc/passwd", "ftp://a.test/"),
        *(
            "http://a.test/a b",
            "http://a.test/\r\nX: y",
            "http://a\ttest/",
            "http://a.test\\@b.test/",
            "http://a.test/\0",
        ),
        *("http://a.test:0/", "http://a.test:99999/", "http://a.test:x/", "http://a.test:-1/"),
        *("http://secret@a.test/", "http://name:secret@a.test/", "http://@a.test/"),
        *("http://[::1/", "http://[secret]/", "http://[fe80::1%25eth0]/", "http://[::1]x/", "http://[v1.a]/"),
        *(
            "http://.a.test/",
            "http://a..test/",
            f"http://{'a' * 64}.test/",
            "http://a%20b/",
            "http://a,b/",
            "http://℀/",
        ),
        *("http://a.test/\ud800", "http://" + "a." * 200 + "test/"),
    ],
)
def test_urls_that_lead_nowhere(url: str) -> None:
    with pytest.raises(HttpFailure) as caught:
        parse_url(url)
    assert caught.value.kind is HttpFailureKind.BAD_URL
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=40), st.builds("http://{}".format, st.text(max_size=40))))
def test_any_text_is_a_target_in_ascii_or_no_url(url: str) -> None:
    try:
        origin, target = parse_url(url)
    except HttpFailure:
        return
    assert target.startswith("/")
    assert (origin.host + target).isascii()
    assert (origin.host + target).isprintable()
    assert " " not in target
    assert 0 < origin.port < 65536


@pytest.mark.parametrize(
    ("origin", "authority", "host_header"),
    [
        (HTTP, "a.test:80", "a.test"),
        (HTTPS, "a.test:443", "a.test"),
        (Origin("https", "a.test", 80), "a.test:80", "a.test:80"),
        (Origin("http", "::1", 80), "[::1]:80", "[::1]"),
        (Origin("http", "::1", 8080), "[::1]:8080", "[::1]:8080"),
    ],
)
def test_how_an_origin_is_written(origin: Origin, authority: str, host_header: str) -> None:
    assert (origin.authority, origin.host_header) == (authority, host_header)
    assert origin.is_secure == (origin.scheme == "https")
