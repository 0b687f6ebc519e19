"""What stateless requests must say of themselves."""

import pytest

from support.mcp.tool_server import envelope
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.mcp.protocol import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    META_CAPABILITIES,
    META_REVISION,
    UNSUPPORTED_REVISION,
    JsonRpcRequest,
)
from tejat.ui.mcp_server.envelope import Envelope, RequestRejected, has_envelope, parse_envelope

NOW = "2026-07-28"
HEADERS = [("Mcp-Method", "tools/call"), ("MCP-Protocol-Version", NOW), ("mcp-name", "read_file")]


def request(meta: JsonValue, method: str = "tools/call", name: JsonValue = "read_file") -> JsonRpcRequest:
    return JsonRpcRequest(1, method, {"name": name, "_meta": meta})


def refused(given: JsonRpcRequest, headers: list[tuple[str, str]] | None = None) -> tuple[int, str, JsonValue]:
    with pytest.raises(RequestRejected) as caught:
        parse_envelope(given, headers)
    return caught.value.code, caught.value.message, caught.value.data


def test_who_asks() -> None:
    given = request(envelope({"elicitation": {}}))
    assert parse_envelope(given) == Envelope(NOW, {"elicitation": {}})
    assert parse_envelope(given, HEADERS) == Envelope(NOW, {"elicitation": {}})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (request(envelope()), True),
        (request({META_REVISION: None}), True),
        (request(envelope(), method="initialize"), False),
        (request({"progressToken": 1}), False),
        (request([META_REVISION]), False),
        (JsonRpcRequest(1, "ping"), False),
    ],
)
def test_which_requests_speak_for_themselves(given: JsonRpcRequest, expected: bool) -> None:
    assert has_envelope(given) is expected


@pytest.mark.parametrize(
    ("meta", "lacking"),
    [
        ({}, f"{META_REVISION} and {META_CAPABILITIES}"),
        (None, f"{META_REVISION} and {META_CAPABILITIES}"),
        ({META_REVISION: NOW}, META_CAPABILITIES),
        ({META_CAPABILITIES: {}}, META_REVISION),
    ],
)
def test_what_is_missing_is_named(meta: JsonValue, lacking: str) -> None:
    assert refused(request(meta)) == (INVALID_PARAMS, f"params._meta lacks {lacking}.", None)


@pytest.mark.parametrize("meta", [envelope(revision=3), {META_REVISION: NOW, META_CAPABILITIES: []}])
def test_what_has_the_wrong_shape(meta: JsonObject) -> None:
    assert refused(request(meta))[0] == INVALID_PARAMS


def test_other_revisions_are_told_which_there_are() -> None:
    data = {"supported": [NOW], "requested": "2031-01-01"}
    words = "This revision of the protocol is not spoken here."
    assert refused(request(envelope(revision="2031-01-01"))) == (UNSUPPORTED_REVISION, words, data)


def changed(name: str, text: str | None) -> list[tuple[str, str]]:
    kept = [pair for pair in HEADERS if pair[0].lower() != name]
    return kept if text is None else [*kept, (name, text)]


@pytest.mark.parametrize("name", ["mcp-protocol-version", "mcp-method", "mcp-name"])
@pytest.mark.parametrize("text", [None, "another"])
def test_headers_that_say_something_else(name: str, text: str | None) -> None:
    words = f"The header {name} is not what the request says."
    assert refused(request(envelope()), changed(name, text)) == (HEADER_MISMATCH, words, None)


@pytest.mark.parametrize("name", ["mcp-protocol-version", "mcp-method", "mcp-name"])
def test_headers_that_are_there_twice(name: str) -> None:
    twice = [*HEADERS, next(pair for pair in HEADERS if pair[0].lower() == name)]
    words = f"The header {name} is there more than once."
    assert refused(request(envelope()), twice) == (HEADER_MISMATCH, words, None)


def test_a_revision_of_null_does_not_go_with_no_header() -> None:
    given = request(envelope(revision=None))
    assert refused(given, changed("mcp-protocol-version", None))[0] == HEADER_MISMATCH


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("grün", "=?base64?Z3LDvG4=?="),
        ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
        ("plain", "=?base64?cGxhaW4=?="),
    ],
)
def test_names_that_a_header_cannot_hold_are_wrapped(name: str, header: str) -> None:
    assert parse_envelope(request(envelope(), name=name), changed("mcp-name", header)).revision == NOW


@pytest.mark.parametrize("header", ["=?base64?***?=", "=?base64?/w==?=", "=?base64?Z3LDvG4?="])
def test_what_is_wrapped_badly_is_nobody(header: str) -> None:
    assert refused(request(envelope(), name="x"), changed("mcp-name", header))[0] == HEADER_MISMATCH


def test_only_requests_that_name_something_need_the_name() -> None:
    headers = [("mcp-method", "tools/list"), ("mcp-protocol-version", NOW)]
    assert parse_envelope(request(envelope(), method="tools/list"), headers) == Envelope(NOW)
