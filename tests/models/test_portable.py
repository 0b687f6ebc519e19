"""Names, ids and words that every service takes."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tejat.core.tool import FunctionDeclaration
from tejat.core.types import FileData, InlineData
from tejat.models.portable import (
    data_url,
    in_words,
    names_by_wire,
    object_schema,
    response_text,
    wire_id,
    wire_name,
)


@given(st.text(max_size=200))
def test_every_name_becomes_one_that_is_taken(name: str) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", wire_name(name))
    assert wire_name(wire_name(name)) == wire_name(name)


@given(st.sets(st.text(max_size=100), min_size=2, max_size=20))
def test_different_names_stay_different_and_are_found_again(names: set[str]) -> None:
    tools = tuple(FunctionDeclaration(name, "", {}) for name in names)
    assert sorted(names_by_wire(tools).values()) == sorted(names)


def test_a_name_that_fits_stays_as_it_is() -> None:
    assert wire_name("read_file") == "read_file"
    assert wire_name("a-B_9" * 12) == "a-B_9" * 12
    assert wire_name("read.file").startswith("read_file_")
    assert wire_name("read.file") != wire_name("read/file")


@given(st.text(max_size=200), st.integers(0, 100))
def test_every_id_becomes_one_that_is_taken(call_id: str, position: int) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", wire_id(call_id, position))
    assert wire_id(call_id, position) == wire_id(call_id, position + 1)


def test_a_missing_id_is_the_place_of_the_call() -> None:
    assert [wire_id(None, 0), wire_id(None, 1), wire_id("toolu_1", 5)] == ["call_0", "call_1", "toolu_1"]


def test_a_schema_is_that_of_an_object() -> None:
    fine = {"type": "object", "properties": {"a": {"anyOf": []}}, "required": ["a"]}
    assert object_schema(fine) is fine
    assert object_schema({}) == {"type": "object", "properties": {}}
    chosen = {"oneOf": [{"required": ["a"]}], "type": "object", "properties": {"a": {}}}
    assert object_schema(chosen) == {"type": "object", "properties": {"a": {}}}


def test_an_answer_is_as_plain_as_can_be() -> None:
    assert response_text({"output": "lines\n"}) == "lines\n"
    assert response_text({"error": "no"}) == '{"error":"no"}'
    assert response_text({"error": "no", "output": "half"}) == '{"error":"no","output":"half"}'
    assert response_text({"output": 1}) == '{"output":1}'
    assert response_text({}) == "{}"


def test_media_are_told_or_written_out() -> None:
    assert data_url(InlineData("image/png", b"\xff")) == "data:image/png;base64,/w=="
    assert (
        in_words(InlineData("video/mp4", b"123"))
        == "[video/mp4 of 3 bytes was left out: this service does not take it.]"
    )
    assert in_words(FileData("", "gs://x"), "why") == "[A file at gs://x was left out: why.]"
