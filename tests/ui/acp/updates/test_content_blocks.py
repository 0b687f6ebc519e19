"""Content within its limits: what is left out is always said."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from tejat.core.json_text import dump_json
from tejat.core.messages.types import FileData, InlineData
from tejat.ui.acp.updates.content_blocks import (
    MAX_RAW_CHARS,
    MAX_TEXT_CHARS,
    change_content,
    code_content,
    keep_head,
    keep_tail,
    media_blocks,
    raw_value,
)


def test_short_texts_stay() -> None:
    assert (keep_head("a\nb"), keep_tail("a\nb")) == ("a\nb", "a\nb")
    assert keep_head("x" * MAX_TEXT_CHARS) == "x" * MAX_TEXT_CHARS


def test_long_texts_say_what_is_missing() -> None:
    assert keep_head("abcdef", 4) == "abcd\n[2 characters are not shown]"
    assert keep_tail("abcdef", 5) == "[1 character is not shown]\nbcdef"


def test_code_cannot_end_its_block_and_hides_nothing() -> None:
    text = code_content("```\n# Not a heading\x1b[2J\u202e\n", "sh")["content"]
    assert text == {"type": "text", "text": "````sh\n```\n# Not a heading<U+001B>[2J<U+202E>\n````"}


def test_a_change_has_both_contents() -> None:
    assert change_content("/w/a", "-a\n+b\n", "a", "b") == {
        "type": "diff",
        "path": "/w/a",
        "oldText": "a",
        "newText": "b",
    }


def test_a_change_of_a_large_file_is_the_text_of_its_diff() -> None:
    assert change_content("/w/a", "-a\n+b\n", None, None) == code_content("-a\n+b", "diff")


def test_pictures_and_sounds_are_blocks_and_other_media_are_not() -> None:
    parts = ["text", InlineData("image/png", b"1"), InlineData("application/pdf", b"2"), FileData("image/png", "u")]
    assert list(media_blocks(parts)) == [
        {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"1").decode()}
    ]
    assert list(media_blocks(InlineData("audio/wav", b"3"))) == [
        {"type": "audio", "mimeType": "audio/wav", "data": "Mw=="}
    ]
    assert list(media_blocks("text")) == []


def test_arguments_stay_as_they_are() -> None:
    args = {"a": [1, None, {"b": "c"}]}
    assert raw_value(args) is args


def test_long_texts_in_arguments_are_cut() -> None:
    value = raw_value({"file_path": "a", "content": "x" * MAX_RAW_CHARS})
    left_out = MAX_RAW_CHARS - 4096
    assert value == {
        "file_path": "a",
        "content": f"{'x' * 4096}\n[{left_out:,} characters are not shown]",
    }


def test_too_many_arguments_become_an_excerpt() -> None:
    value = raw_value({"items": ["x"] * MAX_RAW_CHARS})
    assert isinstance(value, str)
    assert value.startswith('{"items":["x","x"')
    assert value.endswith("characters are not shown]")


def test_what_is_not_json_becomes_a_text() -> None:
    assert raw_value({"a": {1}}) == "{'a': {1}}"
    assert raw_value({"a": float("nan")}) == "{'a': nan}"


@given(st.dictionaries(st.text(), st.recursive(st.text() | st.integers(), st.lists)))
def test_what_is_sent_is_always_bounded_json(value: dict[str, object]) -> None:
    assert len(dump_json(raw_value(value))) <= MAX_RAW_CHARS + 100
