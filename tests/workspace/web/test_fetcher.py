"""The fetcher: nothing is reached that was not checked, whatever servers and name servers say."""

import asyncio
import gzip
import time
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import pytest

from support.certificates import Certificates, make_certificates
from support.web_site import HTML, FakeInternet, SiteAnswer, WebSite, http_response, open_site, redirect
from tejat.workspace.http.client import HttpClient
from tejat.workspace.web.fetcher import (
    FetchedPage,
    Fetcher,
    FetchFailure,
    FetchLimits,
    FetchRoute,
    HostResolver,
    resolve_host,
)

Result = TypeVar("Result")
PAGE = http_response("<p>hi</p>", content_type=HTML)
PUBLIC = "93.184.216.34"


def names(**addresses: str | Sequence[str]) -> HostResolver:
    """A name server that knows some names; `_` stands for a dot."""
    known = {name.replace("_", "."): addresses for name, addresses in addresses.items()}

    async def resolve(host: str, _: int) -> Sequence[str]:
        found = known.get(host)
        if found is None:
            raise OSError(f"no such name: {host}")
        return [found] if isinstance(found, str) else found

    return resolve


def with_site(
    answers: Mapping[str, SiteAnswer], work: Callable[[WebSite, HttpClient], Coroutine[Any, Any, Result]]
) -> tuple[Result, WebSite]:
    async def main() -> tuple[Result, WebSite]:
        http = HttpClient(environment={}, use_proxies=False)
        async with open_site(answers) as opened:
            try:
                return await work(opened, http), opened
            finally:
                await http.close()

    return asyncio.run(main())


def refused(
    answers: Mapping[str, SiteAnswer], work: Callable[[WebSite, HttpClient], Awaitable[object]]
) -> tuple[FetchFailure, WebSite]:
    async def failing(opened: WebSite, http: HttpClient) -> FetchFailure:
        with pytest.raises(FetchFailure) as caught:
            await work(opened, http)
        return caught.value

    return with_site(answers, failing)


class TestWhatIsFetched:
    def test_a_page_of_a_place_that_was_agreed_to(self) -> None:
        async def work(opened: WebSite, http: HttpClient) -> FetchedPage:
            return await Fetcher(http).fetch(f"{opened.origin}/x?a=b#c", allow_private=frozenset({opened.origin}))

        fetched, opened = with_site({"/x": PAGE}, work)
        assert fetched == FetchedPage(f"{opened.origin}/x?a=b", 200, "OK", HTML, b"<p>hi</p>", is_truncated=False)

    def test_nothing_is_told_about_the_person(self) -> None:
        async def work(opened: WebSite, http: HttpClient) -> FetchedPage:
            return await Fetcher(http).fetch(f"{opened.origin}/a", allow_private=frozenset({opened.origin}))

        _, opened = with_site(
            {"/a": http_response("", status="302 Found", location="/b", set_cookie="k=v"), "/b": PAGE}, work
        )
        lines = opened.requests[1].split("\r\n")
        assert lines[0] == "GET /b HTTP/1.1"
        assert {line.partition(":")[0].lower() for line in lines[1:] if line} == {
            *("host", "accept", "accept-encoding", "user-agent"),
        }

    def test_a_status_is_for_the_caller(self) -> None:
        async def work(opened: WebSite, http: HttpClient) -> FetchedPage:
            return await Fetcher(http).fetch(f"{opened.origin}/", allow_private=frozenset({opened.origin}))

        fetched, _ = with_site({"/": http_response("gone", status="410 Gone")}, work)
        assert (fetched.status, fetched.reason, fetched.content_type, fetched.body) == (410, "Gone", "", b"gone")

    def test_a_long_reason_is_cut(self) -> None:
        async def work(opened: WebSite, http: HttpClient) -> FetchedPage:
            return await Fetcher(http).fetch(f"{opened.origin}/", allow_private=frozenset({opened.origin}))

        assert with_site({"/": http_response("", status="500 " + "x" * 5000)}, work)[0].reason == "x" * 100

    def test_a_public_name_goes_to_the_address_that_was_checked(self) -> None:
        async def work(opened: WebSite, _: HttpClient) -> FakeInternet:
            http = FakeInternet(opened.port)
            await Fetcher(http, resolve=names(example_com=PUBLIC)).fetch("http://example.com/")
            await http.close()
            return http

        http, opened = with_site({"/": PAGE}, work)
        assert http.connected == [(PUBLIC, 80)]
        assert "Host: example.com\r\n" in opened.requests[0]

    def test_a_dead_address_gives_way_to_the_next(self) -> None:
        async def work(opened: WebSite, _: HttpClient) -> FakeInternet:
            http = FakeInternet(opened.port)
            http.dead = {"2606:2800:220:1::1"}
            resolve = names(example_com=["2606:2800:220:1::1", PUBLIC, "1.1.1.1"])
            await Fetcher(http, resolve=resolve).fetch("http://example.com:8080/")
            await http.close()
            return http

        assert with_site({"/": PAGE}, work)[0].connected == [("2606:2800:220:1::1", 8080), (PUBLIC, 8080)]

    def test_redirects_within_the_limit(self) -> None:
        hops = {f"/{number}": redirect(f"/{number + 1}", status) for number, status in enumerate(STATUSES)}

        async def work(opened: WebSite, http: HttpClient) -> FetchedPage:
            return await Fetcher(http).fetch(f"{opened.origin}/0", allow_private=frozenset({opened.origin}))

        fetched, opened = with_site({**hops, "/5": PAGE}, work)
        assert (fetched.url, fetched.body) == (f"{opened.origin}/5", b"<p>hi</p>")

    def test_a_redirect_that_names_no_place_is_a_page(self) -> None:
        async def work(opened: WebSite, http: HttpClient) -> FetchedPage:
            return await Fetcher(http).fetch(f"{opened.origin}/", allow_private=frozenset({opened.origin}))

        assert with_site({"/": http_response("x", status="302 Found")}, work)[0].status == 302
        assert with_site({"/": http_response("x", status="304 Not Modified", location="/y")}, work)[0].status == 304


STATUSES = ["301 A", "302 B", "303 C", "307 D", "308 E"]

# Every one of these resolves to this machine on some system, or to a place where keys lie about.
HOSTILE = [
    *("127.0.0.1", "localhost", "LOCALHOST", "app.localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0"),
    *("0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"),
    *("[::127.0.0.1]", "[2001:0:53aa:64c:0:0:80ff:fffe]", "169.254.169.254", "[fd00:ec2::254]", "100.64.0.1"),
    *("198.18.0.1", "10.0.0.1", "192.168.0.1", "172.16.0.1", "[fe80::1]", "[fe80::1%25lo]", "[fc00::1]"),
    *("127.0.0.1.", "\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021", "user@127.0.0.1", "224.0.0.1", "devbox"),
]


class TestWhatIsBlocked:
    @pytest.mark.parametrize("host", HOSTILE)
    def test_no_spelling_reaches_this_machine(self, host: str) -> None:
        async def work(opened: WebSite, http: HttpClient) -> object:
            return await Fetcher(http).fetch(f"http://{host}:{opened.port}/")

        failure, opened = refused({"/": PAGE}, work)
        assert failure.is_blocked
        assert opened.requests == []

    @pytest.mark.parametrize(
        "addresses",
        [
            "127.0.0.1",
            "169.254.169.254",
            [PUBLIC, "127.0.0.1"],
            ["127.0.0.1", PUBLIC],
            "::ffff:127.0.0.1",
            "fe80::1%lo",
        ],
    )
    def test_a_public_name_for_a_private_place(self, addresses: str | list[str]) -> None:
        async def work(opened: WebSite, http: HttpClient) -> object:
            return await Fetcher(http, resolve=names(evil_example=addresses)).fetch(
                f"http://evil.example:{opened.port}/"
            )

        failure, opened = refused({"/": PAGE}, work)
        assert failure.is_blocked
        assert failure.message.startswith("Blocked: evil.example resolves to ")
        assert opened.requests == []

    def test_a_yes_is_for_one_origin_only(self) -> None:
        async def work(opened: WebSite, http: HttpClient) -> object:
            agreed = {f"http://127.0.0.1:{opened.port + 1}", "http://127.0.0.1", f"https://127.0.0.1:{opened.port}"}
            return await Fetcher(http).fetch(opened.origin, allow_private=frozenset(agreed))

        failure, opened = refused({"/": PAGE}, work)
        assert failure.message == "Blocked: 127.0.0.1, on this machine or a private network, which was not approved."
        assert opened.requests == []

    def test_a_yes_never_opens_what_is_forbidden(self) -> None:
        async def work(_: WebSite, http: HttpClient) -> object:
            agreed = frozenset({"http://169.254.169.254", "http://metadata.internal"})
            fetcher = Fetcher(http, resolve=names(metadata_internal="169.254.169.254"))
            with pytest.raises(FetchFailure) as by_name:
                await fetcher.fetch("http://metadata.internal/", allow_private=agreed)
            assert by_name.value.message == (
                "Blocked: metadata.internal resolves to 169.254.169.254, which is not a public internet address."
            )
            return await fetcher.fetch("http://169.254.169.254/latest", allow_private=agreed)

        assert refused({}, work)[0].is_blocked

    def test_every_hop_is_looked_up_once_and_checked(self) -> None:
        asked: list[str] = []

        async def resolve(host: str, _: int) -> Sequence[str]:
            asked.append(host)
            return ["127.0.0.1"] if asked.count(host) == 1 and host == "ok.test" else ["169.254.169.254"]

        async def work(opened: WebSite, http: HttpClient) -> object:
            agreed = frozenset({f"http://ok.test:{opened.port}", f"http://metadata.test:{opened.port}"})
            opened.answers = {"/": redirect(f"http://metadata.test:{opened.port}/keys")}
            return await Fetcher(http, resolve=resolve).fetch(f"http://ok.test:{opened.port}/", allow_private=agreed)

        failure, opened = refused({}, work)
        assert (failure.is_blocked, opened.paths, asked) == (True, ["/"], ["ok.test", "metadata.test"])

    def test_a_name_that_changes_its_address_behind_our_back(self) -> None:
        answers = [["127.0.0.1"], ["169.254.169.254"]]

        async def resolve(*_: object) -> Sequence[str]:
            return answers.pop(0)

        async def work(opened: WebSite, http: HttpClient) -> FetchedPage:
            origin = f"http://pinned.test:{opened.port}"
            return await Fetcher(http, resolve=resolve).fetch(origin, allow_private=frozenset({origin}))

        fetched, opened = with_site({"/": PAGE}, work)
        assert (fetched.body, len(answers)) == (b"<p>hi</p>", 1)
        assert f"Host: pinned.test:{opened.port}\r\n" in opened.requests[0]

    def test_a_redirect_to_another_private_place(self) -> None:
        async def work(opened: WebSite, http: HttpClient) -> object:
            async with open_site({"/": PAGE}) as other:
                opened.answers = {"/": redirect(other.origin)}
                try:
                    return await Fetcher(http).fetch(opened.origin, allow_private=frozenset({opened.origin}))
                finally:
                    assert other.requests == []

        assert refused({}, work)[0].is_blocked

    @pytest.mark.parametrize(
        "location",
        [
            *("file:///etc/passwd", "data:text/plain,x", "gopher://127.0.0.1/", "ftp://a.com/", "javascript:x"),
            *("http://user:pw@127.0.0.1/", "http://[", "http://a\\b/"),
        ],
    )
    def test_a_redirect_to_what_is_no_page(self, location: str) -> None:
        async def work(opened: WebSite, http: HttpClient) -> object:
            return await Fetcher(http).fetch(opened.origin, allow_private=frozenset({opened.origin}))

        failure, _ = refused({"/": redirect(location)}, work)
        assert failure.is_blocked
        assert failure.message.startswith("The page redirects to an invalid address. ")

    def test_a_loop_of_redirects(self) -> None:
        async def work(opened: WebSite, http: HttpClient) -> object:
            return await Fetcher(http).fetch(opened.origin, allow_private=frozenset({opened.origin}))

        failure, opened = refused({"/": redirect("/")}, work)
        assert (failure.message, failure.is_blocked, len(opened.requests)) == (
            "More than 5 redirects.",
            True,
            6,
        )

    @pytest.mark.parametrize(
        "url", ["file:///etc/passwd", "ftp://a.com", "http://u:secret@a.com", "nonsense", "http://"]
    )
    def test_what_is_no_address_of_a_page(self, url: str) -> None:
        failure, _ = refused({}, lambda _, http: Fetcher(http).fetch(url))
        assert failure.is_blocked
        assert "secret" not in failure.message


class TestLimits:
    LIMITS = FetchLimits(seconds=5, body=10_000)

    def fetch(
        self, answers: Mapping[str, SiteAnswer], limits: FetchLimits | None = None
    ) -> tuple[FetchedPage, WebSite]:
        async def work(opened: WebSite, http: HttpClient) -> FetchedPage:
            fetcher = Fetcher(http, limits=limits or self.LIMITS)
            return await fetcher.fetch(opened.origin, allow_private=frozenset({opened.origin}))

        return with_site(answers, work)

    @pytest.mark.parametrize(("size", "was_cut"), [(9_999, False), (10_000, False), (10_001, True), (500_000, True)])
    def test_a_long_body_is_cut(self, size: int, was_cut: bool) -> None:
        fetched, _ = self.fetch({"/": http_response(b"x" * size)})
        assert (fetched.body, fetched.is_truncated) == (b"x" * min(size, 10_000), was_cut)

    def test_an_endless_body_is_cut(self) -> None:
        async def endless(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                writer.write(b"y" * 1000)
                await writer.drain()

        fetched, _ = self.fetch({"/": endless})
        assert (fetched.body, fetched.is_truncated) == (b"y" * 10_000, True)

    @pytest.mark.parametrize("encoding", ["gzip", "deflate"])
    def test_a_bomb_is_cut(self, encoding: str) -> None:
        packer = zlib.compressobj(6, wbits=31 if encoding == "gzip" else 15)
        bomb = b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(50)), packer.flush()])
        fetched, _ = self.fetch({"/": http_response(bomb, content_encoding=encoding)})
        assert (fetched.body, fetched.is_truncated) == (bytes(10_000), True)

    def test_packaging_counts_too(self) -> None:
        fetched, _ = self.fetch({"/": http_response(gzip.compress(b"") * 50_000, content_encoding="gzip")})
        assert (fetched.body, fetched.is_truncated) == (b"", True)

    def test_a_packed_page(self) -> None:
        fetched, opened = self.fetch({"/": http_response(gzip.compress(b"<p>hi</p>"), content_encoding="gzip")})
        assert (fetched.body, fetched.is_truncated) == (b"<p>hi</p>", False)
        assert "Accept-Encoding: gzip, deflate\r\n" in opened.requests[0]

    def test_a_packed_page_that_ends_too_early(self) -> None:
        fetched, _ = self.fetch({"/": http_response(gzip.compress(b"abc" * 100)[:-9], content_encoding="gzip")})
        assert fetched.is_truncated

    def failure(self, say: SiteAnswer, limits: FetchLimits | None = None) -> FetchFailure:
        async def work(opened: WebSite, http: HttpClient) -> object:
            fetcher = Fetcher(http, limits=limits or self.LIMITS)
            return await fetcher.fetch(opened.origin, allow_private=frozenset({opened.origin}))

        return refused({"/": say}, work)[0]

    @pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
    def test_packing_that_nobody_asked_for(self, encoding: str) -> None:
        failure = self.failure(http_response(b"x", content_encoding=encoding))
        assert failure.message == f'The server used the content encoding "{encoding}", which was not requested.'

    def test_a_broken_body(self) -> None:
        assert "decompression failed" in self.failure(http_response(b"\xff" * 50, content_encoding="gzip")).message

    def test_a_slow_drip_has_an_end(self) -> None:
        async def drip(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                writer.write(b"z")
                await writer.drain()
                await asyncio.sleep(0.05)

        began = time.monotonic()
        failure = self.failure(drip, FetchLimits(seconds=0.5))
        assert (failure.message, failure.is_blocked) == ("The page did not load within 0.5 seconds.", False)
        assert time.monotonic() - began < 20

    def test_a_name_server_that_does_not_answer(self) -> None:
        async def resolve(*_: object) -> Sequence[str]:
            await asyncio.sleep(60)
            return []

        failure, _ = refused(
            {}, lambda _, http: Fetcher(http, resolve=resolve, limits=FetchLimits(seconds=0.2)).fetch("http://a.com")
        )
        assert failure.message == "The page did not load within 0.2 seconds."

    def test_a_cut_body_and_endless_headers(self) -> None:
        assert not self.failure(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nabc").is_blocked
        assert not self.failure(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000).is_blocked
        assert not self.failure(b"not http at all\r\n\r\n").is_blocked

    def test_a_cancelled_fetch_ends_at_once(self) -> None:
        async def silent(_: asyncio.StreamWriter) -> None:
            await asyncio.sleep(30)

        async def work(opened: WebSite, http: HttpClient) -> float:
            fetch = asyncio.create_task(Fetcher(http).fetch(opened.origin, allow_private=frozenset({opened.origin})))
            await opened.was_asked.wait()
            began = time.monotonic()
            fetch.cancel()
            with pytest.raises(asyncio.CancelledError):
                await fetch
            return time.monotonic() - began

        assert with_site({"/": silent}, work)[0] < 1

    def test_a_name_that_nobody_knows(self) -> None:
        failure, _ = refused({}, lambda _, http: Fetcher(http, resolve=names()).fetch("http://nowhere.example"))
        assert (failure.message, failure.is_blocked) == ("Could not resolve nowhere.example.", False)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


class TestEncryption:
    def fetch(self, certificates: Certificates, host: str, say: bytes) -> tuple[FetchedPage | FetchFailure, WebSite]:
        async def main() -> tuple[FetchedPage | FetchFailure, WebSite]:
            http = HttpClient(environment={"SSL_CERT_FILE": str(certificates.authority)}, use_proxies=False)
            fetcher = Fetcher(http, resolve=names(service_test="127.0.0.1", other_test="127.0.0.1"))
            async with open_site({"/": say}, tls=certificates.server) as opened:
                origins = frozenset(f"{scheme}://{host}:{opened.port}" for scheme in ("http", "https"))
                try:
                    return await fetcher.fetch(f"https://{host}:{opened.port}", allow_private=origins), opened
                except FetchFailure as failure:
                    return failure, opened

        return asyncio.run(main())

    def test_the_certificate_is_for_the_name_and_not_for_the_address(self, certificates: Certificates) -> None:
        fetched, _ = self.fetch(certificates, "service.test", PAGE)
        assert isinstance(fetched, FetchedPage)
        assert fetched.body == b"<p>hi</p>"

    def test_another_name_is_not_believed(self, certificates: Certificates) -> None:
        failure, opened = self.fetch(certificates, "other.test", PAGE)
        assert isinstance(failure, FetchFailure)
        assert "is not trusted" in failure.message
        assert opened.requests == []

    def test_a_redirect_does_not_give_it_up(self, certificates: Certificates) -> None:
        failure, opened = self.fetch(certificates, "service.test", redirect("http://service.test:80/"))
        assert isinstance(failure, FetchFailure)
        assert failure.message == "The page redirects from https to http. Not followed."
        assert (failure.is_blocked, opened.paths) == (True, ["/"])


class TestThroughAProxy:
    def fetch(self, url: str, *, is_agreed: bool = False) -> tuple[FetchedPage | FetchFailure, WebSite]:
        async def work(opened: WebSite, _: HttpClient) -> FetchedPage | FetchFailure:
            http = HttpClient(environment={"http_proxy": opened.origin})
            fetcher = Fetcher(http, resolve=names(localhost="127.0.0.1"), route=FetchRoute.PROXY)
            origin = url.replace("PORT", str(opened.port)).rstrip("/")
            try:
                return await fetcher.fetch(origin, allow_private=frozenset({origin} if is_agreed else ()))
            except FetchFailure as failure:
                return failure
            finally:
                await http.close()

        return with_site({"http://example.com/": PAGE, "/": PAGE}, work)

    def test_the_proxy_looks_up_the_name(self) -> None:
        fetched, opened = self.fetch("http://example.com/")
        assert isinstance(fetched, FetchedPage)
        assert (fetched.body, opened.paths) == (b"<p>hi</p>", ["http://example.com/"])

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
    def test_what_is_agreed_to_on_this_machine_is_not_for_the_proxy(self, host: str) -> None:
        fetched, opened = self.fetch(f"http://{host}:PORT/", is_agreed=True)
        assert isinstance(fetched, FetchedPage)
        assert (fetched.body, opened.paths) == (b"<p>hi</p>", ["/"])

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "169.254.169.254", "[::1]", "intranet"])
    def test_what_is_private_by_its_spelling_stays_blocked(self, host: str) -> None:
        failure, opened = self.fetch(f"http://{host}/")
        assert isinstance(failure, FetchFailure)
        assert (failure.is_blocked, opened.requests) == (True, [])


def test_what_the_system_knows_of_this_machine() -> None:
    assert set(asyncio.run(resolve_host("localhost", 80))) & {"127.0.0.1", "::1"}
