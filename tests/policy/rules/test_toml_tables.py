import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.policy.errors import PolicyError
from tejat.policy.rules.toml_tables import TomlTable, parse_tables


def only(text: str) -> TomlTable:
    (table,) = parse_tables("[[rule]]\n" + text, "rule", file="f")
    return table


def problem(text: str) -> tuple[int | None, str]:
    with pytest.raises(PolicyError) as caught:
        parse_tables(text, "rule", file="f")
    assert caught.value.file == "f"
    return caught.value.line, caught.value.problem


def test_each_table_knows_its_line() -> None:
    text = '''# [[rule]]
[[rule]]
a = """
[[rule]]
"""
b = [
  ["rule"],
[["rule"]]
]
c = "[[rule]] # no"

 [[ "rule" ]] # yes
d = '[[rule]]'
e = \'\'\'
[[rule]]\'\'\'\'
f = """a\\"""
[[rule]]
"""""
  [['rule']]
'''
    assert [table.line for table in parse_tables(text, "rule", file="f")] == [2, 12, 19]


def test_windows_line_ends_count_too() -> None:
    assert [table.line for table in parse_tables("\r\n\r\n[[rule]]\r\na=1\r\n[[rule]]", "rule", file="f")] == [3, 5]


def test_characters_that_only_look_like_line_ends_do_not_count() -> None:
    assert [table.line for table in parse_tables("# \u2028 \u0085\n[[rule]]", "rule", file="f")] == [2]


def test_tables_written_in_another_way_are_told_with_the_first_line() -> None:
    assert [table.line for table in parse_tables("\nrule = [{a = 1}, {a = 2}]", "rule", file="f")] == [1, 1]
    assert parse_tables("", "rule", file="f") == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[[rule]]\n\na = ", 3),
        ("a = 1\n\nb = = 2", 3),
        ("[[rules]]\na = 1", 1),
        ("[[rule]]\n[other]", 2),
        ("\n\nrule = 1", 3),
        ("[rule]\na = 1", 1),
        ("rule = [1]", 1),
        ("a = " + "[" * 20_000, 1),
        ("a = " + "1" * 5_000, 1),
        ("a = 2000-99-99", 1),
        ("a = \0", 1),
    ],
)
def test_what_is_no_list_of_tables(text: str, line: int) -> None:
    assert problem(text)[0] == line


def test_an_unknown_key_is_told_with_its_line_and_the_nearest_one() -> None:
    table = only('tool = """\ndecisoin = 1"""\ndecisoin = "x"')
    with pytest.raises(PolicyError) as caught:
        table.validate_keys({"tool", "decision"})
    assert str(caught.value) == "f:4: unknown key 'decisoin'; did you mean decision?"
    with pytest.raises(PolicyError, match=r"unknown key 'xyzxyzxyz'$"):
        only("xyzxyzxyz = 1").validate_keys({"tool", "decision"})


def test_values() -> None:
    table = only('a = "x"\nb = ["x", "y"]\nc = true\nd = 7\ne = [1, {z = 2}]')
    assert (table.string("a"), table.string("none")) == ("x", None)
    assert (table.strings("a"), table.strings("b"), table.strings("none")) == (("x",), ("x", "y"), None)
    assert (table.boolean("c"), table.boolean("none")) == (True, False)
    assert (table.integer("d", maximum=9), table.integer("none", maximum=9)) == (7, 0)
    assert (table.items("e"), table.items("none")) == ((1, {"z": 2}), ())
    assert (table.key("none", "a"), table.key("none"), table.value("none", "d")) == ("a", None, 7)


def test_two_spellings_of_one_key_are_one_too_many() -> None:
    with pytest.raises(PolicyError, match="f:3: a and b mean the same"):
        only('a = "x"\nb = "x"').string("a", "b")


@pytest.mark.parametrize("value", ["1", "[]", "{}", "1.5", "2000-01-01"])
def test_wrong_kinds_are_told_with_their_line(value: str) -> None:
    table = only(f"\nx = {value}\ny = -1\nz = true")
    for read in (lambda: table.string("x"), lambda: table.strings("x"), lambda: table.boolean("x")):
        with pytest.raises(PolicyError, match="f:3: x must be"):
            read()
    for key in ("y", "z"):
        with pytest.raises(PolicyError, match=f"{key} must be an integer from 0 to 5"):
            table.integer(key, maximum=5)
    with pytest.raises(PolicyError, match="y must be a list"):
        table.items("y")


PIECES = [
    "[[rule]]\n",
    "rule",
    '"',
    "'",
    '"""',
    "'''",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    "#",
    "\\",
    "a",
    " ",
    ".",
    ",",
    "1",
]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
@settings(max_examples=250, deadline=None)
def test_any_text_is_read_or_told_about(text: str) -> None:
    try:
        lines = [table.line for table in parse_tables(text, "rule", file="f")]
    except PolicyError as error:
        lines = [error.line or 0]
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)
