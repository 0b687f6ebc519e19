"""Addresses of pages: found, checked, spelled in one way."""

import re
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.workspace.web.urls import FoundUrls, InvalidUrl, Url, UrlProblem, find_urls, github_raw_url, parse_url


class TestFinding:
    def test_as_the_documents_tell(self) -> None:
        found = find_urls("see https://a.com/x. and ftp://b.c http:// bad://")
        assert found == FoundUrls(
            (Url("https", "a.com", None, "/x."),),
            (
                'Unsupported protocol in URL: "ftp://b.c". Only http and https are supported.',
                'Malformed URL detected: "http://".',
                'Unsupported protocol in URL: "bad://". Only http and https are supported.',
            ),
        )

    @pytest.mark.parametrize(
        "text",
        [
            "https://a.com/x",
            "read <https://a.com/x>",
            "(https://a.com/x)",
            '"https://a.com/x",',
            "'https://a.com/x'.",
            "[the page](https://a.com/x)",
            "[(https://a.com/x)]",
            "see «https://a.com/x»!",
            "(https://a.com/x is good)",
        ],
    )
    def test_what_stands_around_it_does_not_count(self, text: str) -> None:
        assert find_urls(text) == FoundUrls((Url("https", "a.com", None, "/x"),), ())

    def test_any_number_of_wrappings(self) -> None:
        found = find_urls("(" * 50_000 + "https://a.com/x" + ")" * 50_000)
        assert found == FoundUrls((Url("https", "a.com", None, "/x"),), ())

    def test_several_in_their_order_and_none(self) -> None:
        assert [str(url) for url in find_urls("http://b.com\nhttps://a.com?q=1\thttp://b.com").urls] == [
            "http://b.com/",
            "https://a.com/?q=1",
            "http://b.com/",
        ]
        assert find_urls("a.com and mailto:x@y.z") == FoundUrls((), ())

    def test_what_is_wrong_is_named(self) -> None:
        assert find_urls("http://u:p@a.com x://\N{BULLET}" + " http://a.com/" + "a" * 9000).problems == (
            'URLs with a user name or password are not fetched: "http://u:p@a.com".',
            'Unsupported protocol in URL: "x://\N{BULLET}". Only http and https are supported.',
            f'The URL is longer than 8192 characters: "http://a.com/{"a" * 184}...".',
        )

    @given(st.text(st.sampled_from(":/()[]<>\"'`. ahtps@%\\1\u00e9")))
    def test_any_text_is_taken(self, text: str) -> None:
        found = find_urls(text)
        assert len(found.urls) + len(found.problems) == sum("://" in word for word in text.split())


class TestParsing:
    @pytest.mark.parametrize(
        ("text", "spelled"),
        [
            ("HTTPS://Example.COM:443/a/", "https://example.com/a/"),
            ("http://example.com:80", "http://example.com/"),
            ("http://example.com:443/#part", "http://example.com:443/"),
            ("http://example.com:/a", "http://example.com/a"),
            ("https://a.com/\u00e9 b".replace(" ", "%20"), "https://a.com/%C3%A9%20b"),
            ('https://a.com/"<>?q="<>', "https://a.com/%22%3C%3E?q=%22%3C%3E"),
            ("https://b\u00fccher.example/", "https://xn--bcher-kva.example/"),
            ("http://127.1/x", "http://127.0.0.1/x"),
            ("http://0x7f000001:8080", "http://127.0.0.1:8080/"),
            ("http://0", "http://0.0.0.0/"),
            ("http://\u2460\u2461\u2466.\uff10.0.1/", "http://127.0.0.1/"),
            ("http://127\u30020.0.1/", "http://127.0.0.1/"),
            ("http://[::1]:8000/", "http://[::1]:8000/"),
            ("http://[0:0::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
            ("http://a_b.example/", "http://a_b.example/"),
        ],
    )
    def test_one_spelling(self, text: str, spelled: str) -> None:
        assert str(parse_url(text)) in (spelled, spelled.replace("7f00:1", "127.0.0.1"))

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            *((scheme + "://a/b", UrlProblem.UNSUPPORTED_SCHEME) for scheme in ("file", "ftp", "gopher", "data", "ws")),
            ("javascript:alert(1)", UrlProblem.UNSUPPORTED_SCHEME),
            ("", UrlProblem.MALFORMED),
            ("://a", UrlProblem.MALFORMED),
            ("http:", UrlProblem.MALFORMED),
            ("http:a.com", UrlProblem.MALFORMED),
            ("http:/a.com", UrlProblem.MALFORMED),
            ("http:///a", UrlProblem.MALFORMED),
            ("http://:80/", UrlProblem.MALFORMED),
            ("http://a.com:0/", UrlProblem.MALFORMED),
            ("http://a.com:99999/", UrlProblem.MALFORMED),
            ("http://a.com:x/", UrlProblem.MALFORMED),
            ("http://a b/", UrlProblem.MALFORMED),
            ("http://a.com/\r\nX: y", UrlProblem.MALFORMED),
            ("http://a.com\\@b.com/", UrlProblem.MALFORMED),
            ("http://a..com/", UrlProblem.MALFORMED),
            ("http://%31%32%37.1/", UrlProblem.MALFORMED),
            ("http://999.1.1.1/", UrlProblem.MALFORMED),
            ("http://[::1", UrlProblem.MALFORMED),
            ("http://[fe80::1%25eth0]/", UrlProblem.MALFORMED),
            ("http://[fe80::1%eth0]/", UrlProblem.MALFORMED),
            ("http://[v1.x]/", UrlProblem.MALFORMED),
            ("http://[127.0.0.1]/", UrlProblem.MALFORMED),
            ("http://a.com[::1]/", UrlProblem.MALFORMED),
            ("http://[::1]a.com/", UrlProblem.MALFORMED),
            ("http://" + "a" * 300 + ".com/", UrlProblem.MALFORMED),
            ("http://\ud800/", UrlProblem.MALFORMED),
            ("http://user@a.com/", UrlProblem.HAS_CREDENTIALS),
            ("http://user:secret@a.com/", UrlProblem.HAS_CREDENTIALS),
            ("http://@a.com/", UrlProblem.HAS_CREDENTIALS),
            ("http://a.com/" + "x" * 9000, UrlProblem.TOO_LONG),
        ],
    )
    def test_what_is_refused(self, text: str, problem: UrlProblem) -> None:
        with pytest.raises(InvalidUrl) as caught:
            parse_url(text)
        assert caught.value.problem is problem
        assert "secret" not in str(caught.value)

    @given(st.text(max_size=60).map("http://".__add__))
    def test_what_is_taken_is_read_the_same_by_all(self, text: str) -> None:
        """Whoever gets the spelling later sees the host that was checked."""
        try:
            url = parse_url(text)
        except InvalidUrl:
            return
        again = urlsplit(str(url))
        assert (again.scheme, again.hostname, again.port) == ("http", url.host.strip("[]"), url.port)
        assert re.fullmatch(r"[!-~]+", str(url))
        assert parse_url(str(url)) == url

    def test_ports_and_origins(self) -> None:
        url = parse_url("http://a.com:8080/x?y")
        assert (url.origin, url.effective_port) == ("http://a.com:8080", 8080)
        assert [parse_url(f"{scheme}://a.com").effective_port for scheme in ("http", "https")] == [80, 443]


class TestIdentity:
    def test_as_the_documents_tell(self) -> None:
        assert parse_url("HTTPS://Example.COM:443/a/").dedup_key == "https://example.com/a"

    def test_only_the_slash_at_the_end_makes_no_difference(self) -> None:
        spellings = ["http://a.com/x?q=/", "http://a.com/x/?q=/", "http://a.com/x?q=", "http://a.com/X?q=/"]
        assert len({parse_url(spelling).dedup_key for spelling in spellings}) == 3


class TestJoining:
    @pytest.mark.parametrize(
        ("reference", "url"),
        [
            ("/x", "https://a.com/x"),
            ("y?z", "https://a.com/d/y?z"),
            ("../y", "https://a.com/y"),
            ("//b.com/x", "https://b.com/x"),
            (" http://127.1:80 ", "http://127.0.0.1/"),
            ("", "https://a.com/d/e"),
        ],
    )
    def test_where_a_redirect_leads(self, reference: str, url: str) -> None:
        assert str(parse_url("https://a.com/d/e").join(reference)) == url

    @pytest.mark.parametrize("reference", ["file:///etc/passwd", "data:,x", "http://u@b.com", "//[", "http://a b"])
    def test_what_is_not_followed(self, reference: str) -> None:
        with pytest.raises(InvalidUrl):
            parse_url("https://a.com/d/e").join(reference)


@pytest.mark.parametrize(
    ("shown", "raw"),
    [
        ("https://github.com/o/r/blob/main/d/f.py", "https://raw.githubusercontent.com/o/r/main/d/f.py"),
        ("https://github.com/o/r/blob/m/blob/f", "https://raw.githubusercontent.com/o/r/m/blob/f"),
        ("https://github.com/o/r/blob/main/f?x=1#L3", "https://raw.githubusercontent.com/o/r/main/f?x=1"),
        ("https://GitHub.com/o/r/blob/main/f", "https://raw.githubusercontent.com/o/r/main/f"),
    ],
)
def test_a_file_on_github(shown: str, raw: str) -> None:
    assert str(github_raw_url(parse_url(shown))) == raw


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/o/r/tree/main/d",
        "https://github.com/o/r/tree/m/blob/f",
        "https://github.com/o/r/issues?q=/blob/",
        "https://github.com/o/r/blob/",
        "https://notgithub.com/o/r/blob/main/f",
        "https://github.com.evil.example/o/r/blob/main/f",
        "https://gist.github.com/o/r/blob/main/f",
        "https://github.com:8443/o/r/blob/main/f",
        "https://raw.githubusercontent.com/o/r/main/blob/f",
    ],
)
def test_other_pages_stay_as_they_are(url: str) -> None:
    assert str(github_raw_url(parse_url(url))) == url
