"""Which requests are the same, and what is said where they are not."""

import json
from typing import Any

import pytest

from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.history import Message, model_message, user_message
from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData, JsonValue
from tejat.core.model import Capability, ModelRequest
from tejat.models.recording.normalized_request import (
    NormalizedRequest,
    RequestNormalizer,
    diff_requests,
    json_digest,
    normalized_request_from_json,
    verify_pieces,
)
from tejat.models.recording.placeholders import Placeholders

GLOB = FunctionDeclaration("glob", "Finds files", {"type": "object"})


def comparable(*messages: Message, root: str = "/here", **others: object) -> NormalizedRequest:
    request = ModelRequest(messages, **others)  # pyright: ignore[reportArgumentType] -- spread by the tests below
    return RequestNormalizer(Placeholders({root: "${root}"}, ["hunter2"]).substitute).normalize(request)


def shell_output(pid: int, output: str = "ok") -> Message:
    text = f"Command: ls\nOutput: {output}\nBackground PIDs: {pid}, {pid + 1}\nProcess Group PGID: {pid}"
    return user_message(FunctionResponse("run_shell_command", {"output": text}, "1"))


class TestSameness:
    def test_the_same_words_in_other_messages(self) -> None:
        assert comparable(user_message("a"), system="s") == comparable(user_message("a"), system="s")

    def test_another_root_and_a_masked_secret(self) -> None:
        here = comparable(user_message("in /here/x with hunter2"), system="You are in /here")
        there = comparable(user_message("in /srv/x with [secret]"), root="/srv", system="You are in /srv")
        assert here == there

    def test_numbers_of_processes_do_not_count(self) -> None:
        assert comparable(shell_output(100)) == comparable(shell_output(4711))
        assert comparable(shell_output(100)) != comparable(shell_output(100, "other"))

    @pytest.mark.parametrize(
        "others",
        [
            {"system": "other"},
            {"purpose": "web_fetch"},
            {"tools": (GLOB,)},
            {"tools": (FunctionDeclaration("glob", "Finds files!", {"type": "object"}),)},
            {"response_schema": {"type": "object"}},
            {"capabilities": frozenset({Capability.GOOGLE_SEARCH})},
            {"max_output_tokens": 5},
            {"temperature": 0.5},
        ],
    )
    def test_everything_else_counts(self, others: dict[str, Any]) -> None:
        assert comparable(user_message("a"), **others) == comparable(user_message("a"), **others)
        assert comparable(user_message("a"), **others).digest != comparable(user_message("a")).digest

    def test_media_count_and_are_not_kept(self) -> None:
        one, two = (comparable(user_message(InlineData("image/png", data))) for data in (b"one", b"two"))
        assert one.digest != two.digest
        assert "b25l" not in json.dumps(dict(one.pieces))

    def test_a_message_is_looked_at_once(self) -> None:
        looked: list[JsonValue] = []

        def hide(value: JsonValue) -> JsonValue:
            looked.append(value)
            return value

        comparing, first = RequestNormalizer(hide), user_message("first")
        once = comparing.normalize(ModelRequest([first]))
        again = comparing.normalize(ModelRequest([first, model_message("x"), user_message("second")]))
        assert sum("first" in json.dumps(value) for value in looked) == 1
        assert list(once.pieces.items()) == list(again.pieces.items())[:2]


class TestDifference:
    def test_is_told_line_by_line(self) -> None:
        asked = user_message("Fix it"), model_message(FunctionCall("glob", {"pattern": "*"}, "1"))
        old = comparable(*asked, user_message(FunctionResponse("glob", {"output": "a.py\nb.py\nc.py\nd.py"}, "1")))
        new = comparable(*asked, user_message(FunctionResponse("glob", {"output": "a.py\nB.py\nc.py\nd.py"}, "1")))
        assert diff_requests(old, new).split("\n") == [
            "--- recorded",
            "+++ now",
            "@@ -13,6 +13,6 @@",
            "   response of glob:",
            "     output:",
            "       a.py",
            "-      b.py",
            "+      B.py",
            "       c.py",
            "       d.py",
        ]

    def test_names_everything_that_can_be_different(self) -> None:
        old = comparable(user_message("a"), system="Be good.")
        new = comparable(
            user_message(InlineData("image/png", b"x")),
            tools=(GLOB,),
            purpose="web_fetch",
            temperature=1.0,
            system="Be bad.",
        )
        changes = {line for line in diff_requests(old, new).split("\n") if line[:1] in "+-"}
        assert {
            '-purpose: "conversation"',
            '+purpose: "web_fetch"',
            "-temperature: null",
            "+temperature: 1.0",
            "-      Be good.",
            "+      Be bad.",
            "-  text:",
            "-      a",
        } < changes
        assert any(line.startswith("+tool glob, declared as ") for line in changes)
        assert any(line.startswith('+  {"inlineData":') for line in changes)

    def test_is_bounded(self) -> None:
        old = comparable(user_message("x" * 100_000))
        new = comparable(user_message("\n".join(map(str, range(1000)))))
        told = diff_requests(old, new)
        assert len(told) < 80 * 320
        assert told.endswith("more lines]")

    def test_that_is_too_much_is_told_by_its_first_lines(self) -> None:
        old = comparable(user_message("a\nb\nc"))
        new = comparable(user_message("a\nB\n" + "\n".join(map(str, range(200_000)))))
        assert diff_requests(old, new).split("\n") == [
            "--- recorded",
            "+++ now",
            "[The diff is too large to show: 2 lines removed, 200001 lines added]",
            " message 1, of the user:",
            "   text:",
            "       a",
            "-      b",
            "-      c",
            "+      B",
            "+      0",
            "+      1",
        ]

    def test_of_texts_where_one_goes_on(self) -> None:
        old = comparable(user_message("a"))
        new = comparable(user_message("\n".join(["a", *map(str, range(200_000))])))
        assert diff_requests(old, new).split("\n")[-4:] == ["       a", "+      0", "+      1", "+      2"]

    def test_between_very_long_texts_is_told_soon(self) -> None:
        old = comparable(user_message("\n".join(map(str, range(0, 300_000, 2)))))
        new = comparable(user_message("\n".join(map(str, range(1, 300_000, 2)))))
        assert len(diff_requests(old, new)) < 80 * 320


class TestKeeping:
    def test_comes_back_the_same(self) -> None:
        kept = comparable(user_message("a"), system="s", tools=(GLOB,))
        verify_pieces(dict(kept.pieces))
        assert normalized_request_from_json(kept.request, {**kept.pieces, "more": "x"}, digest=kept.digest) == kept

    def test_what_was_changed_is_refused(self) -> None:
        kept = comparable(user_message("a"))
        with pytest.raises(ValueError, match="request was changed"):
            normalized_request_from_json({**kept.request, "purpose": "x"}, kept.pieces, digest=kept.digest)
        with pytest.raises(ValueError, match="piece was changed"):
            verify_pieces(dict.fromkeys(kept.pieces, "other"))

    @pytest.mark.parametrize(
        "change",
        [{"system": "x"}, {"messages": ["x"]}, {"messages": "x"}, {"tools": [["a"]]}, {"tools": [3]}, {"purpose": 3}],
    )
    def test_what_is_not_whole_is_refused(self, change: dict[str, JsonValue]) -> None:
        kept = comparable(user_message("a"))
        request = {**kept.request, **change}
        with pytest.raises(ValueError, match=r"missing|no name"):
            normalized_request_from_json(request, kept.pieces, digest=json_digest(request))

    @pytest.mark.parametrize("piece", [3, {}, {"role": "user"}, {"role": "user", "parts": [3]}])
    def test_pieces_are_texts_and_messages(self, piece: JsonValue) -> None:
        with pytest.raises(ValueError, match=r"."):
            verify_pieces({json_digest(piece)[:16]: piece})
