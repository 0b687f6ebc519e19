"""The subset of YAML that definitions may use."""

import json
import time
from contextlib import suppress
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.config.yaml_values import MAX_DEPTH, UnsupportedYaml, YamlError, parse_yaml

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Cn"], exclude_characters="\ufeff"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_json_is_yaml(value: object) -> None:
    assert parse_yaml(json.dumps(value, ensure_ascii=False)) == value


@given(st.text(max_size=200))
def test_any_text_gives_a_json_value_or_one_clear_error(text: str) -> None:
    try:
        outcome = json.dumps(parse_yaml(text), allow_nan=False)
    except YamlError as error:
        outcome = str(error)
        assert_one_line(outcome)
    assert outcome


def assert_one_line(message: str) -> None:
    assert len(message.splitlines()) == 1
    assert message.endswith(")")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("'true'", "true"),
        ("", None),
        ("~", None),
        ("null", None),
        ("12", 12),
        ("-3", -3),
        ("007", "007"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("2026-11-17", "2026-11-17"),
        ("1.5", 1.5),
        ("1e999", "1e999"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("9" * 40, "9" * 40),
        ("|\n  a\n  b\n", "a\nb\n"),
        (">\n  a\n  b\n", "a b\n"),
    ],
)
def test_scalars(text: str, expected: object) -> None:
    value = cast("dict[str, object]", parse_yaml(f"key: {text}"))
    assert value == {"key": expected}
    assert type(value["key"]) is type(expected)


def test_keys_are_texts() -> None:
    assert parse_yaml("on: 1\nyes: 2\n3: 3\ntrue: 4\nnull: 5") == {"on": 1, "yes": 2, "3": 3, "true": 4, "null": 5}


@pytest.mark.parametrize(
    ("text", "word", "line"),
    [
        ("a: 1\nb: &x 2", "anchors", 2),
        ("a: &x {b: 1}", "anchors", 1),
        ("a: *x", "aliases", 1),
        ("*x : 1", "aliases", 1),
        ("a: !!python/object/apply:os.system ['true']", "tags", 1),
        ("a: !!str 1", "tags", 1),
        ("!x a: 1", "tags", 1),
        ("<<: {a: 1}", "merge keys", 1),
        ("a: 1\nb: 2\na: 3", "'a' is defined twice", 3),
        ("x: {a: 1, a: 2}", "'a' is defined twice", 1),
        ("? [a]\n: 1", "a key that is not a text", 1),
        ("a: 1\n--- \nb: 1", "a second document", 2),
        ("%YAML 1.1\n--- \na: 1", "directives", 1),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested too deeply", 1),
    ],
)
def test_refused_features_are_named(text: str, word: str, line: int) -> None:
    with pytest.raises(UnsupportedYaml, match=f"{word}.*line {line}"):
        parse_yaml(text)


def test_depth_up_to_the_limit() -> None:
    assert json.dumps(parse_yaml("[" * MAX_DEPTH + "]" * MAX_DEPTH)) == "[" * MAX_DEPTH + "]" * MAX_DEPTH


def test_the_line_of_an_error_counts_from_the_given_one() -> None:
    with pytest.raises(YamlError, match=r"mapping values are not allowed.*\(line 12\)"):
        parse_yaml("a: 1\nb: c: d", first_line=11)


@pytest.mark.parametrize("text", ["a: \x07", "a: \ud800", "a: \ufffe"])
def test_characters_that_yaml_does_not_allow(text: str) -> None:
    with pytest.raises(YamlError):
        parse_yaml(text)


BOMB = "a: &a [x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{f'*{chr(97 + n)},' * 9}]\n" for n in range(20))


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "[" * 60_000,
        "{" * 60_000,
        "- " * 30_000,
        "? " * 30_000,
        "a: " + "9" * 60_000,
        "{" + ",".join(f"k{n}: 1" for n in range(8000)) + "}",
        "a:\n" + "".join(" " * n + "b:\n" for n in range(1, 300)),
    ],
    ids=["aliases", "lists", "maps", "dashes", "keys", "digits", "wide", "indents"],
)
def test_bombs_end_at_once(text: str) -> None:
    start = time.process_time()
    with suppress(YamlError):
        parse_yaml(text)
    assert time.process_time() - start < 5
