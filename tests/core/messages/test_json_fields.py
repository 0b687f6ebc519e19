"""Typed access to JSON that we wrote."""

import pytest

from tejat.core.messages.json_fields import JsonFields

FIELDS = JsonFields(
    {
        "a": "x",
        "n": 3,
        "f": 2.5,
        "yes": True,
        "list": [1, "b"],
        "inner": {"k": "v"},
        "nothing": None,
        "ns": [1, 2],
        "ts": ["a"],
    }
)


def test_gives_what_is_there() -> None:
    assert FIELDS.string("a") == FIELDS.string_or_none("a") == "x"
    assert FIELDS.integer("n") == FIELDS.integer_or_none("n") == FIELDS.number("n") == 3
    assert FIELDS.number("f") == FIELDS.number_or_none("f") == 2.5
    assert FIELDS.boolean("yes") is True
    assert FIELDS.items("list") == [1, "b"]
    assert FIELDS.integers("ns") == (1, 2)
    assert FIELDS.strings("ts") == ("a",)
    assert FIELDS.object("inner") == {"k": "v"}
    assert FIELDS.nested("inner").string("k") == "v"
    assert (FIELDS.has("nothing"), FIELDS.has("none")) == (True, False)


@pytest.mark.parametrize("key", ["nothing", "missing"])
def test_nothing_is_none_where_that_may_be(key: str) -> None:
    assert FIELDS.string_or_none(key) is FIELDS.integer_or_none(key) is FIELDS.number_or_none(key) is None


@pytest.mark.parametrize(
    ("method", "key"),
    [
        ("string", "n"),
        ("string", "missing"),
        ("string_or_none", "n"),
        ("integer", "f"),
        ("integer", "yes"),
        ("number", "a"),
        ("number", "yes"),
        ("boolean", "n"),
        ("items", "inner"),
        ("items", "a"),
        ("integers", "list"),
        ("integers", "n"),
        ("strings", "list"),
        ("strings", "a"),
        ("object", "list"),
    ],
)
def test_says_which_field_is_wrong(method: str, key: str) -> None:
    with pytest.raises(ValueError, match=f"The field {key} is missing or of another kind"):
        getattr(FIELDS, method)(key)


@pytest.mark.parametrize("value", [None, [], "x", 3])
def test_must_be_an_object(value: object) -> None:
    with pytest.raises(ValueError, match="no object"):
        JsonFields(value)


def test_an_inner_object_must_be_one() -> None:
    with pytest.raises(ValueError, match="no object"):
        FIELDS.nested("list")
