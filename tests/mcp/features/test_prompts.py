"""Prompts of servers as commands."""

import asyncio
from base64 import b64encode
from contextlib import suppress
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.mcp.fake_server import FakeServer
from tejat.core.errors import BadPrompt
from tejat.core.messages.types import InlineData, Text
from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.features.prompts import (
    MAX_CHARACTERS,
    PromptCommand,
    build_prompt_commands,
    expand_prompt,
    help_text,
    parse_prompt_arguments,
    prompt_parts,
)
from tejat.mcp.types import PromptArgument, ServerPrompt

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
A, B = FakeServer("a"), FakeServer("b")


def prompt(*required: str, optional: tuple[str, ...] = ()) -> ServerPrompt:
    arguments = [PromptArgument(name, is_required=True) for name in required]
    return ServerPrompt("p", arguments=(*arguments, *(PromptArgument(name) for name in optional)))


class TestNames:
    def names(self, *offered: tuple[FakeServer, str], taken: tuple[str, ...] = ()) -> tuple[list[str], list[str]]:
        """The same for every order, or it fails."""
        found = {
            build_prompt_commands([(server, ServerPrompt(name)) for server, name in order], taken=taken)
            for order in permutations(offered)
        }
        (commands,) = found
        return [command.name for command in commands.commands], list(commands.problems)

    def test_after_the_prompt(self) -> None:
        problem = 'Skipped a prompt from MCP server b: its name "x<U+3000>" contains invisible characters.'
        assert self.names((A, "review"), (B, "x\u3000")) == (["review"], [problem])
        assert self.names((A, " fix it  now ")) == (["fix-it-now"], [])

    def test_of_two_servers(self) -> None:
        assert self.names((A, "review"), (B, "review"), (B, "other")) == (["a_review", "other", "b_review"], [])

    def test_of_another_command(self) -> None:
        assert self.names((A, "help"), (A, "fix"), taken=("help",)) == (["fix", "a_help"], [])

    def test_when_nothing_helps(self) -> None:
        assert self.names((A, "x y"), (A, "x-y")) == (
            [],
            [
                'Skipped prompt "x y" from MCP server a: the name a_x-y is taken.',
                'Skipped prompt "x-y" from MCP server a: the name a_x-y is taken.',
            ],
        )
        assert self.names((A, "help"), taken=("help", "a_help"))[0] == []

    def test_a_prompt_that_is_called_like_the_long_name_of_another(self) -> None:
        assert self.names((A, "x"), (B, "x"), (B, "a_x")) == (["a_x", "b_a_x", "b_x"], [])

    def test_what_is_told_of_it(self) -> None:
        described = [ServerPrompt("p", "Does"), ServerPrompt("p", "", "Title"), ServerPrompt("p")]
        assert [PromptCommand("p", A, each).description for each in described] == [
            "Does",
            "Title",
            "A prompt from MCP server a",
        ]


IN_QUOTES = 'Quote it if it is part of the text: "--name=value".'
TWO = prompt("title", "mood")
ONE = prompt("text")
MIXED = prompt("title", optional=("mood", "tone"))


class TestArguments:
    @pytest.mark.parametrize(
        ("declared", "typed", "arguments"),
        [
            (TWO, '--title="A B" calm', {"title": "A B", "mood": "calm"}),
            (TWO, '"A B" calm', {"title": "A B", "mood": "calm"}),
            (TWO, "A --mood=x", {"title": "A", "mood": "x"}),
            (TWO, "--mood=x A", {"title": "A", "mood": "x"}),
            (TWO, "--mood=x A B", {"title": "A B", "mood": "x"}),
            (TWO, "A --mood=x B", {"title": "A B", "mood": "x"}),
            (TWO, "--title=a --mood=b", {"title": "a", "mood": "b"}),
            (TWO, "--title=a --title=c --mood=b", {"title": "c", "mood": "b"}),
            (TWO, "  a \n b  ", {"title": "a", "mood": "b"}),
            (ONE, "hello big world", {"text": "hello big world"}),
            (ONE, "hello   big\nworld ", {"text": "hello   big\nworld"}),
            (ONE, 'say "big world" twice', {"text": "say big world twice"}),
            (ONE, '"trailing "', {"text": "trailing "}),
            (ONE, r'"say \"hi\""', {"text": 'say "hi"'}),
            (ONE, r'"a\\b"', {"text": r"a\b"}),
            (ONE, r'"a\nb"', {"text": r"a\nb"}),
            (ONE, r"C:\dir\new", {"text": r"C:\dir\new"}),
            (ONE, r"--text=a\ b\"c", {"text": 'a b"c'}),
            (ONE, "--text=", {"text": ""}),
            (ONE, '--text=""', {"text": ""}),
            (ONE, '"use --color=auto here"', {"text": "use --color=auto here"}),
            (ONE, '"--color=auto"', {"text": "--color=auto"}),
            (ONE, "a--b=c", {"text": "a--b=c"}),
            (ONE, "--verbose", {"text": "--verbose"}),
            (ONE, '"not closed', {"text": '"not closed'}),
            (ONE, 'a"b c"d', {"text": 'a"b c"d'}),
            (MIXED, "one", {"title": "one"}),
            (MIXED, "one two", {"title": "one two"}),
            (MIXED, "--title=one two three", {"title": "one", "mood": "two", "tone": "three"}),
            (MIXED, "--title=one --mood=two three", {"title": "one", "mood": "two", "tone": "three"}),
            (prompt(), "", {}),
            (prompt(optional=("a",)), "", {}),
            (prompt(optional=("a",)), "x", {"a": "x"}),
            (prompt("a b"), "x", {"a b": "x"}),
        ],
    )
    def test_what_was_typed(self, declared: ServerPrompt, typed: str, arguments: dict[str, str]) -> None:
        assert parse_prompt_arguments(declared, typed) == arguments

    @pytest.mark.parametrize(
        ("declared", "typed", "told"),
        [
            (TWO, "one", "Missing required argument(s): --mood"),
            (TWO, "", "Missing required argument(s): --title, --mood"),
            (TWO, "--title=x", "Missing required argument(s): --mood"),
            (ONE, "  ", "Missing required argument(s): --text"),
            (TWO, "a b c d", "Too many arguments: c d. Quote text that contains spaces."),
            (prompt(), "a", "Too many arguments: a. Quote text that contains spaces."),
            (
                TWO,
                "--titel=x",
                f"Unknown argument --titel. Known: --title, --mood. {IN_QUOTES}",
            ),
            (prompt(), "--a=b", f"Unknown argument --a. Known: none. {IN_QUOTES}"),
        ],
    )
    def test_what_is_wrong(self, declared: ServerPrompt, typed: str, told: str) -> None:
        with pytest.raises(BadPrompt) as raised:
            parse_prompt_arguments(declared, typed)
        assert str(raised.value) == told

    @given(st.dictionaries(st.sampled_from(["title", "mood"]), st.text(max_size=20), min_size=2))
    def test_whatever_is_quoted_arrives(self, values: dict[str, str]) -> None:
        quoted = {name: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for name, text in values.items()}
        named = " ".join(f"--{name}={text}" for name, text in quoted.items())
        assert parse_prompt_arguments(TWO, named) == values
        assert parse_prompt_arguments(TWO, f"{quoted['title']} {quoted['mood']}") == values

    @given(st.text(alphabet='ab-="\\ \n', max_size=30))
    def test_whatever_is_typed(self, typed: str) -> None:
        for declared in (ONE, TWO, MIXED):
            known = {argument.name for argument in declared.arguments}
            with suppress(BadPrompt):
                assert set(parse_prompt_arguments(declared, typed)) <= known

    @pytest.mark.parametrize("much", ['"' * 100_000, "\\" * 99_999, "--a=" * 30_000, '"\\' * 50_000, '" ' * 50_000])
    def test_much_is_typed(self, much: str) -> None:
        assert parse_prompt_arguments(ONE, f"x{much}")["text"][0] == "x"
        with pytest.raises(BadPrompt) as raised:
            parse_prompt_arguments(TWO, f"a b x {much}" if "=" not in much else f"x{much}")
        assert len(str(raised.value)) < 400


class TestHelp:
    def test_arguments(self) -> None:
        told = ServerPrompt("p", arguments=(PromptArgument("a", "First\nof\u202e all", True), PromptArgument("b")))
        assert help_text(PromptCommand("p", A, told)) == (
            "Arguments for /p:\n\n  --a (required)\n      First of<U+202E> all\n  --b (optional)"
        )

    def test_none(self) -> None:
        assert help_text(PromptCommand("p", A, prompt())) == "/p takes no arguments."


def prompt_message(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": {"type": "text", "text": text}}


class TestParts:
    def test_all_that_the_messages_hold(self) -> None:
        picture = {"type": "image", "data": b64encode(PNG).decode(), "mimeType": "image/png"}
        within = {"type": "resource", "resource": {"uri": "x:1", "text": "inside"}}
        messages = [
            prompt_message("one"),
            {"role": "user", "content": picture},
            {"role": "user", "content": [within, within]},
        ]
        assert prompt_parts({"messages": [*messages, prompt_message(""), 5]}, name="p") == (
            Text("one"),
            Text("[Prompt 'p' provided the following image data with mime-type: image/png]"),
            InlineData("image/png", PNG),
            Text("inside"),
            Text("inside"),
        )

    def test_who_speaks_where_both_do(self) -> None:
        messages = [
            prompt_message("2+2?"),
            prompt_message("4", "assistant"),
            prompt_message("3+3?"),
            {"role": "user", "content": {"type": "new"}},
        ]
        assert prompt_parts({"messages": messages}, name="p") == (
            *(Text("User:"), Text("2+2?")),
            *(Text("Assistant:"), Text("4")),
            *(Text("User:"), Text("3+3?")),
        )
        assert prompt_parts({"messages": [prompt_message("4", "assistant")]}, name="p") == (Text("4"),)

    @pytest.mark.parametrize(
        "answer",
        [
            {},
            {"messages": []},
            {"messages": "x"},
            {"messages": [prompt_message("")]},
            {"messages": [{"role": "user"}, None]},
        ],
    )
    def test_nothing_in_it(self, answer: dict[str, Any]) -> None:
        with pytest.raises(BadPrompt, match=r"^The prompt /p is empty\.$"):
            prompt_parts(answer, name="p")

    def test_too_much(self) -> None:
        half = "x" * (MAX_CHARACTERS // 2)
        assert prompt_parts({"messages": [prompt_message(half), prompt_message(half)]}, name="p") == (
            Text(half),
            Text(half),
        )
        with pytest.raises(BadPrompt) as raised:
            prompt_parts({"messages": [prompt_message(half), prompt_message(half), prompt_message("x")]}, name="p")
        assert str(raised.value) == "The prompt /p is too large: 1048577 characters (limit: 1048576)."
        with pytest.raises(BadPrompt, match=r"^The prompt /p is too large: it contains 10001 blocks, and at most"):
            prompt_parts({"messages": [prompt_message("x")] * 10_001}, name="p")


class TestFillIn:
    def test_the_server_is_asked(self) -> None:
        server = FakeServer("a", {"messages": [prompt_message("Review x")]})
        command = PromptCommand("p", server, TWO)
        assert asyncio.run(expand_prompt(command, '"A B" calm')) == (Text("Review x"),)
        assert server.requests == [("prompt", "p", {"title": "A B", "mood": "calm"})]

    def test_it_is_not_asked_in_vain(self) -> None:
        server = FakeServer("a")
        with pytest.raises(BadPrompt, match="Missing required"):
            asyncio.run(expand_prompt(PromptCommand("p", server, TWO), ""))
        assert server.requests == []

    def test_it_fails(self) -> None:
        server = FakeServer("a", McpFailure("It is gone.", McpProblem.CLOSED))
        with pytest.raises(BadPrompt) as raised:
            asyncio.run(expand_prompt(PromptCommand("b_p", server, ONE), "x"))
        assert str(raised.value) == "Could not get prompt /b_p from MCP server a: It is gone."
