"""JSON of others by its shape."""

import pytest

from tejat.core.json_text import InvalidJson
from tejat.models.wire.json_access import as_count, as_list, as_object, as_str, parse_json_or_text, parse_object


def test_an_object_is_read() -> None:
    assert parse_object('{"a": [1]}') == {"a": [1]}
    assert parse_object(b"{}") == {}


@pytest.mark.parametrize("text", ["[]", "1", "null", '"{}"', "", "{", "{" * 100_000, "NaN"])
def test_everything_else_is_none(text: str) -> None:
    with pytest.raises(InvalidJson):
        parse_object(text)


def test_what_has_another_shape_is_absent() -> None:
    odd: list[object] = [None, True, 1, 1.5, "text", [1], {"a": 1}]
    assert [as_object(value) for value in odd] == [{}, {}, {}, {}, {}, {}, {"a": 1}]
    assert [as_list(value) for value in odd] == [(), (), (), (), (), [1], ()]
    assert [as_str(value) for value in odd] == ["", "", "", "", "text", "", ""]
    assert [as_count(value) for value in [*odd, -3]] == [0, 0, 1, 1, 0, 0, 0, 0]


def test_a_count_that_is_beyond_belief_is_absent() -> None:
    values: list[object] = [10**12, 10**12 + 1, 10**400, 1.7e308, float("inf"), float("nan")]
    assert [as_count(value) for value in values] == [10**12, 0, 0, 0, 0, 0]


def test_a_body_is_json_or_text() -> None:
    assert parse_json_or_text(b'{"a": 1}') == {"a": 1}
    assert parse_json_or_text(b"Bad \xff Gateway") == "Bad \ufffd Gateway"
    assert parse_json_or_text(b"[" * 100_000) == "[" * 100_000
