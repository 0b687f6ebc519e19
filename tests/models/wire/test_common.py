"""Names, ids and words that every service takes."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import FileData, InlineData
from tejat.models.wire.common import (
    NAME_PATTERN,
    data_url,
    media_placeholder,
    object_schema,
    response_text,
    restore_arguments,
    tool_names_by_wire_name,
    wire_arguments,
    wire_id,
    wire_name,
    wire_properties,
)

GEMINI = r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"
KEYS = r"[a-zA-Z0-9_.-]{1,64}"
anything = st.text(max_size=200) | st.from_regex(NAME_PATTERN, fullmatch=True) | st.from_regex(GEMINI, fullmatch=True)


@given(anything, st.sampled_from([NAME_PATTERN, GEMINI, KEYS]))
def test_every_name_becomes_one_that_is_taken(name: str, fitting: str) -> None:
    assert re.fullmatch(fitting, wire_name(name, fitting))


@given(st.sets(anything, min_size=1, max_size=10), st.sampled_from([NAME_PATTERN, GEMINI]))
def test_different_names_stay_different_and_are_found_again(names: set[str], fitting: str) -> None:
    """Also those that somebody chose because they are another one's stand-in."""
    chosen = {wire_name(name, fitting) for name in names}
    tools = tuple(FunctionDeclaration(name, "", {}) for name in names | chosen)
    assert sorted(tool_names_by_wire_name(tools, fitting).values()) == sorted(names | chosen)


@given(st.dictionaries(anything, st.integers(), max_size=6))
def test_arguments_find_their_way_back(arguments: dict[str, int]) -> None:
    schema = {"type": "object", "properties": {key: {} for key in arguments}, "required": list(arguments)}
    told = wire_properties(schema)
    sent = wire_arguments(arguments)
    assert list(sent) == list(told["properties"]) == told["required"]  # pyright: ignore[reportArgumentType]
    assert all(re.fullmatch(KEYS, key) for key in sent)
    tool = FunctionDeclaration("t", "", schema)
    assert restore_arguments(sent, tool) == restore_arguments(arguments, tool) == arguments


def test_what_names_no_parameters_is_left_alone() -> None:
    for schema in ({}, {"properties": []}, {"properties": {"a.b-c": {}}, "required": "a"}):
        assert wire_properties(schema) is schema
    odd = wire_properties({"properties": {"$a": {"description": 7}}, "required": "$a"})
    assert odd == {"properties": {next(iter(wire_arguments({"$a": 1}))): {"description": '"$a"'}}, "required": "$a"}
    for tool in (None, FunctionDeclaration("t", "", {}), FunctionDeclaration("t", "", {"properties": 1})):
        assert restore_arguments({"$a": 1}, tool) == {"$a": 1}


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
        media_placeholder(InlineData("video/mp4", b"123"))
        == "[video/mp4 of 3 bytes was left out: this service does not take it.]"
    )
    assert media_placeholder(FileData("", "gs://x"), "why") == "[A file at gs://x was left out: why.]"
