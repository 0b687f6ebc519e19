"""Resources of servers: found by their names, read within bounds, asked of nobody but their server."""

import asyncio
from base64 import b64encode
from typing import Any

import pytest

from quiet_server import QuietServer
from tejat.mcp.failures import McpFailure, McpProblem
from tejat.mcp.resources import (
    MOST_CHARACTERS,
    MOST_CONTENTS,
    BinaryContent,
    Found,
    Offered,
    TextContent,
    find_resource,
    for_prompt,
    read_resource,
)
from tejat.mcp.values import ServerResource

A, B, FILE = QuietServer("a"), QuietServer("b"), QuietServer("file")
OFFERED = [
    Offered(A, [ServerResource("db://one"), ServerResource("db://both"), ServerResource("db://one", "twice")]),
    Offered(B, [ServerResource("db://both"), ServerResource("a:db://one")]),
    Offered(FILE, [ServerResource("///x"), ServerResource("file:///x")]),
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
    assert [found.label for found in find_resource(wanted, OFFERED)] == labels


def test_the_first_of_two_with_the_same_name() -> None:
    found = Found(A, ServerResource("db://one"))
    assert find_resource("a:db://one", OFFERED) == (found,)


def read(*contents: Any, mime_type: str | None = None) -> tuple[TextContent | BinaryContent, ...]:
    server = QuietServer("a", {"contents": list(contents)})
    read_contents = asyncio.run(read_resource(Found(server, ServerResource("file:///etc/passwd", mime_type=mime_type))))
    assert server.asked == [("resource", "file:///etc/passwd")]
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
            TextContent("one"),
            BinaryContent("image/png", 7),
            BinaryContent("application/octet-stream", 7),
            TextContent(""),
        )
        assert read({"blob": blob, "mimeType": "\x1b"}, mime_type="a/b") == (BinaryContent("a/b", 7),)

    @pytest.mark.parametrize("answer", [{}, {"contents": None}, {"contents": "x"}])
    def test_nothing(self, answer: Any) -> None:
        assert asyncio.run(read_resource(Found(QuietServer("a", answer), ServerResource("x:1")))) == ()

    def test_too_much_text(self) -> None:
        whole = "x" * MOST_CHARACTERS
        assert read({"text": whole}) == (TextContent(whole),)
        assert read({"text": whole + "abc"}, {"text": "de"}) == (
            TextContent(f"{whole}\n[... 3 more characters were left out]"),
            TextContent("\n[... 2 more characters were left out]"),
        )

    def test_too_many(self) -> None:
        contents = read(*[{"text": "x"}] * (MOST_CONTENTS + 2))
        assert contents == (*[TextContent("x")] * MOST_CONTENTS, TextContent("[2 more contents were left out]"))

    def test_it_fails(self) -> None:
        server = QuietServer("a", McpFailure("no", McpProblem.REFUSED))
        with pytest.raises(McpFailure):
            asyncio.run(read_resource(Found(server, ServerResource("x:1"))))


def test_in_a_prompt() -> None:
    contents = [TextContent("one\n"), BinaryContent("image/png", 7), TextContent("two")]
    assert for_prompt(contents) == "one\n\n[Binary resource content image/png, 7 bytes]\ntwo"
    assert for_prompt([]) == ""
