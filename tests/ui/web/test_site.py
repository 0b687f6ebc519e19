"""Requests that the page does not send."""

import pytest

from support.web.server import WebServer
from tejat.core.agent.events import Prompted
from tejat.core.messages.history import user_message


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/session/a%2fb", 404),
        ("GET", "/session/../x", 404),
        ("GET", "/api/nothing", 404),
        ("GET", "/api/sessions/none", 404),
        ("GET", "/api/sessions/s1/nothing", 404),
        ("GET", "/api/sessions/s1/prompt", 404),
        ("GET", "/api/sessions/s1/blocks?before=x", 400),
        ("GET", "/api/history/none", 404),
        ("GET", "/api/search?text=", 404),
        ("POST", "/", 405),
        ("POST", "/sign-in", 404),
        ("PUT", "/api/sessions", 404),
    ],
)
def test_unknown_addresses(web: WebServer, method: str, path: str, status: int) -> None:
    web.add_session("s1")
    answer = web.request(method, path, b"{}" if method != "GET" else None, origin=web.address)
    assert answer.status == status
    assert set(answer.json) == {"error"}


@pytest.mark.parametrize(
    ("action", "body", "status"),
    [
        ("prompt", {"text": " "}, 400),
        ("prompt", {"text": 1}, 400),
        ("prompt", [], 400),
        ("prompt", b"{", 400),
        ("prompt", b"[" * 20_000, 400),
        ("prompt", b" " * (5 * 2**20), 413),
        ("answer", {"question": "none", "choice": "y"}, 200),
        ("dialog", {"dialog": "none", "value": 1}, 200),
        ("dialog", {}, 400),
        ("detachments", {"label": "none"}, 200),
    ],
)
def test_wrong_bodies(web: WebServer, action: str, body: object, status: int) -> None:
    web.add_session("s1")
    answer = web.request("POST", f"/api/sessions/s1/{action}", body)
    assert answer.status == status
    if status == 200:
        assert answer.json["accepted"] is (action == "detachments")


def test_files_over_the_limit_are_refused(web: WebServer) -> None:
    web.add_session("s1")
    path = "/api/sessions/s1/attachments?name=a.txt"
    answer = web.request("POST", path, b"x" * (20 * 2**20 + 1), content_type="application/octet-stream")
    assert answer.status == 422
    assert answer.json["error"].startswith("a.txt: Too large")
    assert web.request("POST", path, b"x", content_type="text/plain").status == 415


def test_stored_sessions_are_read_in_pieces(web: WebServer) -> None:
    events = [Prompted(user_message(f"p{number}"), f"p{number}") for number in range(400)]
    web.sessions.store("old", "Old", "/p", events)
    first = web.get("/api/sessions/old")
    assert (first["live"], len(first["blocks"]), first["earlier"]) == (False, 150, 250)
    more = web.get(f"/api/sessions/old/blocks?before={first['blocks'][0]['place']}")
    assert (len(more["blocks"]), more["earlier"]) == (150, 100)
    assert more["blocks"][-1]["place"] < first["blocks"][0]["place"]


def test_a_session_that_ends_is_not_live_any_more(web: WebServer) -> None:
    web.add_session("s1")
    assert web.get("/api/sessions/s1")["live"] is True
    web.run(web.stack.aclose())
    assert web.request("GET", "/api/sessions/s1").status == 404
