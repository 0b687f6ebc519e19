"""JSON as people write it."""

import json
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.config.jsonc import MAX_DEPTH, JsoncError, JsonNode, parse_jsonc

# Text that can be written down: no half characters.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
GAPS = st.sampled_from(["", " ", "\n", "\r\n", "\t", '// x " { \n', '/* } , \n " */', "/**/", "//\n", "/* // */"])


def plain(node: JsonNode) -> object:
    match node.value:
        case dict() as members:
            return {key: plain(member) for key, member in members.items()}
        case list() as items:
            return [plain(item) for item in items]
        case scalar:
            return scalar


def written(value: object, draw: st.DrawFn) -> str:
    """The value as somebody might write it, with gaps and trailing commas."""

    def gap() -> str:
        return draw(GAPS)

    match value:
        case dict() as members:
            inner = [
                f"{gap()}{written(key, draw)}{gap()}:{gap()}{written(member, draw)}{gap()}"
                for key, member in cast("dict[str, object]", members).items()
            ]
            return "{" + ",".join(inner) + end_of(inner, draw) + gap() + "}"
        case list() as items:
            inner = [f"{gap()}{written(item, draw)}{gap()}" for item in cast("list[object]", items)]
            return "[" + ",".join(inner) + end_of(inner, draw) + gap() + "]"
        case _:
            return json.dumps(value, ensure_ascii=draw(st.booleans()))


def end_of(inner: list[str], draw: st.DrawFn) -> str:
    return "," if inner and draw(st.booleans()) else ""


@st.composite
def texts_and_values(draw: st.DrawFn) -> tuple[str, object]:
    value = draw(VALUES)
    return draw(GAPS) + written(value, draw) + draw(GAPS), value


def test_every_value_knows_its_place() -> None:
    text = '\ufeff// one\n{ "a": 1,\n  /* two\n */ "b": [true, "x",\n],}'
    assert parse_jsonc(text) == JsonNode(
        {
            "a": JsonNode(1, 2, 8),
            "b": JsonNode([JsonNode(True, 4, 11), JsonNode("x", 4, 17)], 4, 10),
        },
        2,
        1,
    )


@settings(max_examples=200)
@given(texts_and_values())
def test_comments_and_commas_change_nothing(pair: tuple[str, object]) -> None:
    text, value = pair
    # 1.0 == 1 == True, so the kinds are compared as well.
    assert repr(plain(parse_jsonc(text))) == repr(value)


@settings(max_examples=200)
@given(VALUES, st.booleans(), st.sampled_from([None, 0, 2]))
def test_all_json_is_read(value: object, ascii_only: bool, indent: int | None) -> None:
    assert repr(plain(parse_jsonc(json.dumps(value, ensure_ascii=ascii_only, indent=indent)))) == repr(value)


@settings(max_examples=300)
@given(st.text(st.sampled_from('{}[],:"\\/*\n truefalsn0123.eE+-u\x01\ud800'), max_size=30))
def test_anything_else_is_refused_with_its_place(text: str) -> None:
    problem, node = None, None
    try:
        node = parse_jsonc(text)
    except JsoncError as error:
        problem = error
    if problem is None:
        assert node is not None
        json.dumps(plain(node), allow_nan=False).encode()
        return
    lines = text.split("\n")
    assert str(problem).endswith(f" at line {problem.line}, column {problem.column}")
    assert 1 <= problem.line <= len(lines)
    assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a value is missing at line 1, column 1"),
        ("\n // only", "a value is missing at line 2, column 9"),
        ("{} {}", "unexpected text after the value at line 1, column 4"),
        ('{"a": 1,\n "b": 2,\n "a": 3}', 'duplicate key "a" (first at line 1) at line 3, column 2'),
        ('{"a": 1, "\\u0061": 3}', 'duplicate key "a" (first at line 1) at line 1, column 10'),
        ('{"a" 1}', '":" is missing after the key "a" at line 1, column 6'),
        ("{a: 1}", "a key in double quotes is missing at line 1, column 2"),
        ("{'a': 1}", "a key in double quotes is missing at line 1, column 2"),
        ('{"a": }', "a value is missing at line 1, column 7"),
        ('{"a": 1', '"," or "}" is missing at line 1, column 8'),
        ('{"a": 1 "b": 2}', '"," or "}" is missing at line 1, column 9'),
        ("[1 2]", '"," or "]" is missing at line 1, column 4'),
        ("[,]", "a value is missing at line 1, column 2"),
        ("[1,,2]", "a value is missing at line 1, column 4"),
        ("[01]", '"," or "]" is missing at line 1, column 3'),
        ("[+1]", "'+' does not start a value at line 1, column 2"),
        ("[NaN]", "'N' does not start a value at line 1, column 2"),
        ("[truely]", "'t' does not start a value at line 1, column 2"),
        ("[1e999]", "number too large at line 1, column 2"),
        ("9" * 301, "number too long at line 1, column 1"),
        ('["a]', "unterminated string at line 1, column 2"),
        ('["a\nb"]', "unterminated string at line 1, column 2"),
        ('["a\tb"]', "control character (U+0009) in a string at line 1, column 4"),
        ('["\\x41"]', "invalid escape at line 1, column 3"),
        ('["\\u00g0"]', "invalid escape at line 1, column 3"),
        ('["\\ud800"]', "lone surrogate in a string at line 1, column 2"),
        ("[1] /* x", "unterminated comment at line 1, column 5"),
        ("[1] / x", "unexpected text after the value at line 1, column 5"),
        ("# x\n{}", "'#' does not start a value at line 1, column 1"),
        ("\u00a0{}", "'\\xa0' does not start a value at line 1, column 1"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(JsoncError) as caught:
        parse_jsonc(text)
    assert str(caught.value) == message


def test_the_depth_is_bounded() -> None:
    parse_jsonc("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(JsoncError, match=f"^nested more than 100 levels deep at line 1, column {MAX_DEPTH + 1}$"):
        parse_jsonc("[" * 1_000_000)
    with pytest.raises(JsoncError, match=r"^nested more than 100 levels deep"):
        parse_jsonc('{"a":' * 100_000)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text", ['"' + "\\n" * 100_000, "/*" * 100_000, "[" + "1," * 100_000, "/**/" * 100_000, "//\n" * 100_000]
)
def test_hostile_text_takes_no_longer_than_other_text(text: str) -> None:
    with pytest.raises(JsoncError):
        parse_jsonc(text)
