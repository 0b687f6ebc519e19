"""JSON at the edges: what comes in is bounded and strict, what goes out is always UTF-8."""

import json
import math
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core import json_text
from tejat.core.json_text import InvalidJson, dump_json, load_json, merge_objects, show_json


def json_values(text: st.SearchStrategy[str]) -> st.SearchStrategy[object]:
    scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
    return st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=20)


@given(json_values(st.text()), st.sampled_from([None, 2]))
@settings(max_examples=200, deadline=None)
def test_what_goes_out_comes_back(value: Any, indent: int | None) -> None:
    text = dump_json(value, indent=indent)
    assert load_json(text) == value
    assert load_json(text.encode()) == value
    assert json.loads(text) == value


HALF = re.compile("[\ud800-\udfff]")


@given(st.lists(st.text(st.characters(exclude_categories=()))))
@settings(max_examples=300, deadline=None)
def test_half_characters_never_leave_the_process(value: list[str]) -> None:
    text = dump_json(value)
    assert text.encode().decode() == text
    assert load_json(text) == [HALF.sub("\ufffd", item) for item in value]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\udc80b", '"a\ufffdb"'),
        ("\ud83d", '"\ufffd"'),
        ({"k\udcff": 1}, '{"k\ufffd":1}'),
        ("日本 😀", '"日本 😀"'),
        ({"a": [1, None, True]}, '{"a":[1,null,true]}'),
        ("line\nline\x1b", r'"line\nline\u001b"'),
        ("\x7f\x80\x9b31m\x85é\xa0", r'"\u007f\u0080\u009b31m\u0085' + 'é\xa0"'),
        ("a\u2028b\u2029\udc80", r'"a\u2028b\u2029' + '\ufffd"'),
    ],
)
def test_one_line_without_blanks(value: Any, text: str) -> None:
    assert dump_json(value) == text


def test_indented_for_people() -> None:
    assert dump_json({"a": [1]}, indent=2) == '{\n  "a": [\n    1\n  ]\n}'


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_json_number_does_not_go_out(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump_json({"n": number})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Expecting value at line 1, column 1"),
        ("{", "Expecting property name enclosed in double quotes at line 1, column 2"),
        ('{"a":\n nope}', "Expecting value at line 2, column 2"),
        ("1 2", "Extra data at line 1, column 3"),
        (b'{"a": "\xff"}', "not UTF-8: invalid byte 8"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
        ("NaN", "NaN is not a JSON number"),
        ("[Infinity]", "Infinity is not a JSON number"),
        ("-Infinity", "-Infinity is not a JSON number"),
    ],
)
def test_what_is_wrong_is_said(text: str | bytes, reason: str) -> None:
    with pytest.raises(InvalidJson) as caught:
        load_json(text)
    assert str(caught.value).startswith(reason)


@pytest.mark.parametrize("text", ["1e999", "-1e999", "[1, 2e4000]"])
def test_a_number_too_great_is_refused_because_it_could_not_go_out_again(text: str) -> None:
    with pytest.raises(InvalidJson):
        load_json(text)


def test_a_number_with_thousands_of_digits_is_refused() -> None:
    with pytest.raises(InvalidJson, match="a number in it has too many digits"):
        load_json("9" * 5_000)


def test_a_byte_order_mark_is_no_obstacle() -> None:
    assert load_json(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


@pytest.mark.parametrize("text", ['"' + "x" * 62 + '"', b'"' + b"x" * 62 + b'"'])
def test_the_length_is_bounded(text: str | bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "MAX_BYTES", 64)
    assert load_json(text) == "x" * 62
    with pytest.raises(InvalidJson, match="larger than"):
        load_json(text * 2)


@given(st.binary() | st.text(st.characters(exclude_categories=())))
@settings(max_examples=300, deadline=None)
def test_any_input_is_a_value_or_not_json(text: str | bytes) -> None:
    try:
        value: Any = load_json(text)
    except InvalidJson:
        return
    dump_json(value)


@pytest.mark.parametrize("kind", [str, str.encode])
def test_no_more_objects_and_lists_than_wanted(kind: Callable[[str], str | bytes]) -> None:
    assert load_json(kind('[{}, "[[[[["]'), max_containers=12) == [{}, "[[[[["]
    with pytest.raises(InvalidJson, match="more than 3 objects and lists"):
        load_json(kind("[[], {}, []]"), max_containers=3)


JSON_OBJECTS = st.recursive(
    st.dictionaries(st.sampled_from("abc"), st.integers()),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner | st.integers(), max_size=3),
    max_leaves=8,
)


@given(JSON_OBJECTS, JSON_OBJECTS)
def test_merging_keeps_everything_that_is_said_last(below: Any, above: Any) -> None:
    merged = merge_objects(below, above)
    assert set(merged) == {*below, *above}
    assert merge_objects(merged, above) == merged


@pytest.mark.parametrize("text", ['{"a": 1, "b": 2, "a": 1}', '[{"x": {"a": 1, "a": 2}}]'])
def test_repeated_keys_are_refused_on_request(text: str) -> None:
    with pytest.raises(InvalidJson, match='the key "a" occurs twice'):
        load_json(text, unique_keys=True)
    load_json(text)
    assert load_json('{"a": {"a": 1}}', unique_keys=True) == {"a": {"a": 1}}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, "b"]}, '{\n  "a": [\n    1,\n    "b"\n  ]\n}'),
        (float("inf"), "Infinity"),
        ({"x": {1}}, '{\n  "x": "{1}"\n}'),
        ("\x9b\ud800", '"\\u009b\ufffd"'),
    ],
)
def test_what_is_no_json_is_shown_too(value: object, text: str) -> None:
    assert show_json(value) == text
