"""Arguments in the JSON of weak models."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.models.wire.json_repair import MAX_DEPTH, parse_arguments, parse_arguments_strict

MENDED = [
    ("", {}),
    ("  \n", {}),
    ("null", {}),
    ("{}", {}),
    ('{"a":1}', {"a": 1}),
    ('{"a":1,}', {"a": 1}),
    ('{"a":[1,2,],}', {"a": [1, 2]}),
    ('{"a":{"b":2 , } , }', {"a": {"b": 2}}),
    ('{"a":"x,}"}', {"a": "x,}"}),
    ('{"a":"x,}",}', {"a": "x,}"}),
    ('{"a":"\\",}",}', {"a": '",}'}),
    ('{"a":"one\ntwo"}', {"a": "one\ntwo"}),
    ('{"a":"tab\there","b":1,}', {"a": "tab\there", "b": 1}),
    ('{"a":"\r\n"}', {"a": "\r\n"}),
    ('```json\n{"a":1}\n```', {"a": 1}),
    ('```\n{"a":1}\n```', {"a": 1}),
    ('```JSON\n{"a":1,}```', {"a": 1}),
    ('"{\\"a\\":1}"', {"a": 1}),
    ('{"a":1}</tool_call>', {"a": 1}),
    ('{"a":1}\n</function>', {"a": 1}),
    ('{"a":1};', {"a": 1}),
    ('{"a":1} That is all.', {"a": 1}),
    ('{"a":"}"}<|im_end|>', {"a": "}"}),
    ('{"a":1,"a":2}', {"a": 2}),
    ('{"ä":"ö"}', {"ä": "ö"}),
    ('{"a":"\\ud83d\\ude00"}', {"a": "😀"}),
]
REFUSED = [
    "{",
    "}",
    '{"a":',
    '{"a":1',
    '{"a":"half',
    '{"a":[1,2}',
    '{"a" 1}',
    "{a:1}",
    "{'a':1}",
    '{"a":True}',
    '{"a":None}',
    '{"a":undefined}',
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":1e999}',
    '{"a":0x10}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":1}{"b":2}',
    '{"a":1} {"a":1}',
    '{"a":1}, {"b":2}',
    '{"a":1} or "b"',
    '{"a":1}' + " and so on" * 30,
    "[]",
    "[1]",
    '[{"a":1}]',
    "1",
    "true",
    '"text"',
    '"[1]"',
    "a=1",
    "path: src/main.py",
    "<parameter>1</parameter>",
    'read_file({"a":1})',
    'I would call {"a":1}',
    '{"a":1 "b":2}',
    '{"a":1,,}',
    "{,}",
    '{"a":1,"b"}',
    "{1:2}",
    '{"a":"\\x"}',
    '{"a":"\\u12"}',
    "{\"a\":'b'}",
    "// note\n{}",
    '{"a":1 /* note */}',
    '{"a":1 # note\n}',
    "```json\n",
    "```",
    '```json\n{"a":1',
    'text\n```json\n{"a":1}\n```',
    "\x00",
    '{"a":1}\x00{',
    "....",
    "{...}",
    '{"a":...}',
    '{"a":"b"c"}',
    "{{}}",
    "{{",
    "{}}",
    '{"a":1}]',
    '["a"]}',
    "$(rm -rf /)",
    "{" * 5000,
    "[" * 5000,
    '{"a":' * 500 + "1" + "}" * 500,
]


@pytest.mark.parametrize(("written", "meant"), MENDED)
def test_one_way_to_read_it(written: str, meant: dict[str, object]) -> None:
    assert parse_arguments(written) == meant


@pytest.mark.parametrize("written", REFUSED)
def test_no_certain_way_to_read_it(written: str) -> None:
    assert parse_arguments(written) is None


def test_enough_samples() -> None:
    assert len({written for written, _ in MENDED} | set(REFUSED)) == len(MENDED) + len(REFUSED) >= 90


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.text(max_size=4), json_values, max_size=4), st.sampled_from([None, 1]))
def test_good_json_is_what_it_is(value: dict[str, object], indent: int | None) -> None:
    for is_plain in (True, False):
        text = json.dumps(value, ensure_ascii=is_plain, indent=indent)
        assert parse_arguments_strict(text) == parse_arguments(text) == value


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=4), json_values, min_size=1, max_size=4), st.data())
def test_what_was_cut_short_is_never_read(value: dict[str, object], data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    assert parse_arguments(cut) is None
    assert parse_arguments_strict(cut) is None


@settings(max_examples=300, deadline=None)
@given(st.text('{}[]",:\\ \n`ab1', max_size=40))
def test_nothing_breaks_it(text: str) -> None:
    read = parse_arguments(text)
    exact = parse_arguments_strict(text)
    assert exact is None or read == exact


def test_exactly_means_exactly() -> None:
    assert parse_arguments_strict('{"a":1,}') is None
    assert parse_arguments_strict("") is None
    assert parse_arguments_strict('{"a":1}') == {"a": 1}


def test_arguments_are_not_too_deep() -> None:
    fine = '{"a":' * (MAX_DEPTH - 1) + "{}" + "}" * (MAX_DEPTH - 1)
    assert parse_arguments(fine) is not None
    assert parse_arguments('{"a":' + fine + "}") is None
    wide = json.dumps({str(place): {"a": [{}]} for place in range(1000)})
    assert parse_arguments(wide) == json.loads(wide)


@pytest.mark.parametrize(
    "hostile",
    [
        " " * 10**6,
        '{"a":"' + "\\" * 10**6,
        ",\n" * 5 * 10**5,
        "```\n" + " " * 10**6 + "x",
        '{"a":1}' + " " * 10**6 + "{",
    ],
)
def test_hostile_text_takes_no_time(hostile: str) -> None:
    before = time.process_time()
    parse_arguments(hostile)
    assert time.process_time() - before < 3
