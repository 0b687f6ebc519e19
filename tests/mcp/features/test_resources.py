"""Resources of servers: found by their names, read within bounds, asked of nobody but their server."""

import asyncio
from base64 import b64encode
from typing import Any

import pytest

from support.mcp.fake_server import FakeServer
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.features.resources import (
    MAX_CHARACTERS,
    MAX_CONTENTS,
    BlobResourceContents,
    ResourceRef,
    ServerResources,
    TextResourceContents,
    find_resources,
    format_for_prompt,
    read_resource,
)
from tejat.mcp.types import ServerResource

A, B, FILE = FakeServer("a"), FakeServer("b"), FakeServer("file")
OFFERED = [
    ServerResources(A, [ServerResource("db://one"), ServerResource("db://both"), ServerResource("db://one", "twice")]),
    ServerResources(B, [ServerResource("db://both"), ServerResource("a:db://one")]),
    ServerResources(FILE, [ServerResource("///x"), ServerResource("file:///x")]),
]


@pytest.mark.parametrize(
    ("wanted", "labels"),
    [
        ("db://one", ["a:db://one"]),
        ("a:db://one", ["a:db://one"]),
        ("b:a:db://one", ["b:a:db://one"]),
        ("b:db://one", []),
        ("db://both", ["a:db://both", "b:db://both"]),
        ("b:db://both", ["b:db://both"]),
        ("file:///x", ["file:///x"]),
        ("file:file:///x", ["file:file:///x"]),
        ("c:db://one", []),
        ("db://none", []),
        ("", []),
        ("a:", []),
        ("file:///etc/passwd", []),
    ],
)
def test_which_one_is_meant(wanted: str, labels: list[str]) -> None:
    assert [found.label for found in find_resources(wanted, OFFERED)] == labels


def test_the_first_of_two_with_the_same_name() -> None:
    found = ResourceRef(A, ServerResource("db://one"))
    assert find_resources("a:db://one", OFFERED) == (found,)


def read(*contents: Any, mime_type: str | None = None) -> tuple[TextResourceContents | BlobResourceContents, ...]:
    server = FakeServer("a", {"contents": list(contents)})
    read_contents = asyncio.run(
        read_resource(ResourceRef(server, ServerResource("file:///etc/passwd", mime_type=mime_type)))
    )
    assert server.requests == [("resource", "file:///etc/passwd")]
    return read_contents


class TestReading:
    def test_text_and_bytes(self) -> None:
        blob = b64encode(bytes(7)).decode()
        assert read(
            {"text": "one", "mimeType": "text/plain"},
            {"blob": blob, "mimeType": "image/png; x=1"},
            {"blob": blob},
            {"text": ""},
            {},
            "odd",
            {"text": 5, "blob": None},
        ) == (
            TextResourceContents("one"),
            BlobResourceContents("image/png", 7),
            BlobResourceContents("application/octet-stream", 7),
            TextResourceContents(""),
        )
        assert read({"blob": blob, "mimeType": "\x1b"}, mime_type="a/b") == (BlobResourceContents("a/b", 7),)

    @pytest.mark.parametrize("answer", [{}, {"contents": None}, {"contents": "x"}])
    def test_nothing(self, answer: Any) -> None:
        assert asyncio.run(read_resource(ResourceRef(FakeServer("a", answer), ServerResource("x:1")))) == ()

    def test_too_much_text(self) -> None:
        whole = "x" * MAX_CHARACTERS
        assert read({"text": whole}) == (TextResourceContents(whole),)
        assert read({"text": whole + "abc"}, {"text": "de"}) == (
            TextResourceContents(f"{whole}\n[... 3 more characters were left out]"),
            TextResourceContents("\n[... 2 more characters were left out]"),
        )

    def test_too_many(self) -> None:
        contents = read(*[{"text": "x"}] * (MAX_CONTENTS + 2))
        assert contents == (
            *[TextResourceContents("x")] * MAX_CONTENTS,
            TextResourceContents("[2 more contents were left out]"),
        )

    def test_it_fails(self) -> None:
        server = FakeServer("a", McpFailure("no", McpProblem.REFUSED))
        with pytest.raises(McpFailure):
            asyncio.run(read_resource(ResourceRef(server, ServerResource("x:1"))))


def test_in_a_prompt() -> None:
    contents = [TextResourceContents("one\n"), BlobResourceContents("image/png", 7), TextResourceContents("two")]
    assert format_for_prompt(contents) == "one\n\n[Binary resource content image/png, 7 bytes]\ntwo"
    assert format_for_prompt([]) == ""
