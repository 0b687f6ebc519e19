"""Nobody but a browser that got the link can use the page, and no other web page through it."""

import re

import pytest

from support.web.server import WebServer
from tejat.ui.web.http.access import AccessControl, parse_query
from tejat.workspace.http.server import HttpError

PRIVATE = ["/api/sessions", "/api/stream", "/api/sessions/s1", "/api/sessions/s1/completions?text=@"]


def test_the_link_signs_in_and_leads_to_an_address_without_the_token(web: WebServer) -> None:
    answer = web.request("GET", f"/?token={web.token}", cookie=None)
    assert answer.status == 303
    assert answer.headers["location"].startswith("/#key=")
    assert web.token not in answer.headers["location"]
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"tejat-{web.port}=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert "Domain" not in cookie


def test_a_browser_from_another_site_is_led_on_by_a_page_so_that_it_sends_the_cookie(web: WebServer) -> None:
    answer = web.request(
        "GET", f"/?token={web.token}", cookie=None, sec_fetch_site="cross-site", sec_fetch_mode="navigate"
    )
    assert answer.status == 200
    assert b'http-equiv="refresh"' in answer.body
    assert web.token.encode() not in answer.body
    assert "set-cookie" in answer.headers


def test_the_secrets_are_long_and_differ(web: WebServer) -> None:
    secrets = {web.token, web.key, web.cookie.partition("=")[2]}
    assert len(secrets) == 3
    assert all(re.fullmatch(r"[\w-]{43}", secret) for secret in secrets), "256 bits each"


@pytest.mark.parametrize("path", PRIVATE)
@pytest.mark.parametrize("missing", ["cookie", "key", "both", "wrong cookie", "wrong key"])
def test_data_needs_the_cookie_and_the_key(web: WebServer, path: str, missing: str) -> None:
    headers: dict[str, str | None] = {
        "cookie": {"cookie": None, "both": None, "wrong cookie": f"{web.cookie}x"}.get(missing, web.cookie),
        "x_tejat_key": {"key": None, "both": None, "wrong key": f"{web.key}x"}.get(missing, web.key),
    }
    answer = web.request("GET", path, **headers)
    assert answer.status == 401
    assert answer.json == {"error": "Not signed in. Open the link that `tejat web` printed."}


def test_a_wrong_token_signs_nobody_in(web: WebServer) -> None:
    for token in ("", web.token[:-1], web.token + "x", "ä", web.key):
        answer = web.request("GET", f"/?token={token.encode().hex() if token == 'ä' else token}", cookie=None)
        assert answer.status == 401
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", ""])
def test_other_host_names_are_refused(web: WebServer, host: str) -> None:
    """A page elsewhere may let its own name point to this machine."""
    answer = web.request("GET", "/api/sessions", host=host.format(port=web.port))
    assert answer.status in (400, 421)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST"])
def test_the_names_of_this_machine_are_answered(web: WebServer, host: str) -> None:
    assert web.request("GET", "/api/sessions", host=f"{host}:{web.port}").status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "https://127.0.0.1:{port}"},
        {"origin": "http://localhost:{port}"},
        {"origin": None},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"},
    ],
)
def test_actions_of_other_origins_are_refused(web: WebServer, headers: dict[str, str | None]) -> None:
    sent = {name: text and text.format(port=web.port) for name, text in headers.items()}
    answer = web.request("POST", "/api/sessions/s1/interrupt", {}, **sent)
    assert answer.status == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_dest": "iframe", "sec_fetch_mode": "navigate", "sec_fetch_site": "cross-site"},
        {"sec_fetch_dest": "iframe", "sec_fetch_mode": "navigate", "sec_fetch_site": "same-origin"},
    ],
)
def test_streams_and_pages_for_other_pages_are_refused(web: WebServer, headers: dict[str, str]) -> None:
    assert web.request("GET", "/api/stream", **headers).status == 403
    assert web.request("GET", "/", **headers).status == 403


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None]
)
def test_a_form_of_another_page_cannot_act(web: WebServer, content_type: str | None) -> None:
    web.add_session("s1")
    answer = web.request("POST", "/api/sessions/s1/interrupt", b"{}", content_type=content_type)
    assert answer.status == 415


@pytest.mark.parametrize("path", ["/", "/session/s1", "/static/app.js", "/api/sessions", "/nothing"])
def test_every_answer_has_the_strict_headers(web: WebServer, path: str) -> None:
    headers = web.request("GET", path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == ("no-cache" if path.startswith("/static") else "no-store")


def test_the_page_itself_holds_no_secret_and_no_data(web: WebServer) -> None:
    """A cookie alone is also sent to servers on other ports; what it opens must be worthless."""
    body = web.request("GET", "/session/s1", x_tejat_key=None).body.decode()
    assert web.key not in body
    assert web.token not in body


def test_with_tls_the_token_signs_nobody_in() -> None:
    access = AccessControl(frozenset(), port=1, is_secure=True)
    assert access.cookie_header()[1].endswith("; Secure")


def test_an_address_with_too_many_parameters_is_refused() -> None:
    with pytest.raises(HttpError, match="not valid"):
        parse_query("/?" + "&".join(f"a{number}=1" for number in range(100)))
