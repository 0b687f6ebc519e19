"""Parts on their way out of the process."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.core.frozen import fields_of
from tejat.core.messages.types import (
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    PartListUnion,
    Text,
    content_to_json,
    part_to_json,
)

PARTS: list[tuple[Part, object]] = [
    (Text("hello"), {"text": "hello"}),
    (Text(""), {"text": ""}),
    (InlineData("image/png", b"\x89PNG\x00\xff"), {"inlineData": {"mimeType": "image/png", "data": "iVBORwD/"}}),
    (InlineData("audio/wav", b""), {"inlineData": {"mimeType": "audio/wav", "data": ""}}),
    (FileData("video/mp4", "gs://bucket/a"), {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://bucket/a"}}),
    (FunctionResponse("glob", {"output": "x"}), {"functionResponse": {"name": "glob", "response": {"output": "x"}}}),
    (
        FunctionResponse("glob", {"output": "x"}, id="7"),
        {"functionResponse": {"id": "7", "name": "glob", "response": {"output": "x"}}},
    ),
    (FunctionResponse("glob", {}, id=""), {"functionResponse": {"id": "", "name": "glob", "response": {}}}),
]


@pytest.mark.parametrize(("part", "told"), PARTS)
def test_a_part_has_the_names_of_the_documents(part: Part, told: object) -> None:
    assert part_to_json(part) == told
    assert content_to_json(part) == told


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("plain", "plain"),
        ("", ""),
        ([], []),
        (["a", Text("b"), "c"], ["a", {"text": "b"}, "c"]),
        ((Text("b"),), [{"text": "b"}]),
        ([part for part, _ in PARTS], [told for _, told in PARTS]),
    ],
)
def test_content_is_a_string_a_part_or_a_list_of_both(content: PartListUnion, told: object) -> None:
    assert content_to_json(content) == told


@given(st.binary())
def test_inline_data_comes_back_from_its_base64(data: bytes) -> None:
    told = part_to_json(InlineData("application/pdf", data))
    assert isinstance(told["inlineData"], dict)
    assert base64.b64decode(told["inlineData"]["data"], validate=True) == data  # pyright: ignore[reportArgumentType]


def test_media_is_not_spelled_out_in_a_log() -> None:
    assert repr(InlineData("image/png", b"secret")) == "InlineData(mime_type='image/png')"


@pytest.mark.parametrize("value", [part for part, _ in PARTS] + [FunctionCall("glob", {"pattern": "*"}, "1")])
def test_values_cannot_be_changed(value: Part | FunctionCall) -> None:
    first = fields_of(type(value))[0].name
    with pytest.raises(AttributeError, match="is frozen"):
        setattr(value, first, "changed")
