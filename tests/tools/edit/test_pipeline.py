"""What holds for every edit: exact text is plainly replaced, disturbed text lands as meant, nothing else changes."""

import json
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tejat.tools.edit.pipeline import MAX_SEARCHED_BYTES, find_edits
from tejat.tools.edit.request import EditRequest
from tejat.tools.edit.result import EditMatch, EditRefusal
from tejat.workspace.text.encoding import UTF_8, TextEncoding
from tejat.workspace.text.text_edits import TextFile

WORDS = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "kilo", "lima"]
OTHERS = ["mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango", "uniform", "victor"]


def edited(text: str, request: EditRequest, encoding: TextEncoding = UTF_8) -> str | None:
    """What becomes of the text; None where the edit is refused."""
    file = TextFile(encoding.encode_new(text), encoding)
    found = find_edits(file, request)
    return encoding.decode(b"".join(file.apply_edits(found.edits).pieces)) if isinstance(found, EditMatch) else None


def code(words: list[str]) -> st.SearchStrategy[list[str]]:
    """Lines like those of a program; no two of one text are alike."""
    line = st.tuples(st.sampled_from([0, 4, 8]), st.sampled_from(words), st.sampled_from(words))
    lines = st.lists(line, min_size=6, max_size=24)
    return lines.map(
        lambda given: [
            f'{" " * indent}{first}_{letters(index)} = {second}("{letters(index)}", {first})'
            for index, (indent, first, second) in enumerate(given)
        ]
    )


def letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) * 2 for digit in f"{number:02d}")


@st.composite
def edits(draw: st.DrawFn) -> tuple[list[str], int, list[str], list[str]]:
    """The lines of a file, where an edit begins, its old lines and its new ones. One line or two stay as they are."""
    lines = draw(code(WORDS))
    start = draw(st.integers(0, len(lines) - 4))
    old = lines[start : start + draw(st.integers(3, 4))]
    indent = old[1][: len(old[1]) - len(old[1].lstrip())]
    changed = draw(
        st.sampled_from(
            [
                [old[1].replace("(", "(more, ")],
                [],
                [old[1], f"{indent}log(here)"],
                [f"{indent}if ready:", f"{indent}    run(now)"],
            ]
        )
    )
    return lines, start, old, [old[0], *changed, *old[2:]]


Disturb = Callable[[list[str]], list[str]]


def numbered(lines: list[str]) -> list[str]:
    return [f"{index + 7}: {line}" for index, line in enumerate(lines)]


def quoted(lines: list[str]) -> list[str]:
    return [f"> {line}" for line in lines]


def fenced(lines: list[str]) -> list[str]:
    return ["```python", *lines, "```"]


def escaped(lines: list[str]) -> list[str]:
    return [json.dumps("\n".join(lines))[1:-1]]


def with_tabs(lines: list[str]) -> list[str]:
    return [line.replace("    ", "\t") for line in lines]


def shifted(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def with_blanks_at_ends(lines: list[str]) -> list[str]:
    return [f"{line}  " for line in lines]


def spread(lines: list[str]) -> list[str]:
    return [lines[0].replace("(", "( ").replace(")", " )"), *lines[1:]]


def with_curly_quotes(lines: list[str]) -> list[str]:
    return [line.replace('"', "”") for line in lines]


def with_entities(lines: list[str]) -> list[str]:
    return [line.replace('"', "&quot;") for line in lines]


IN_BOTH: list[Disturb] = [quoted, fenced, escaped, with_tabs, shifted, spread, with_curly_quotes, with_entities]
IN_OLD: list[Disturb] = [numbered, quoted, fenced, escaped, shifted, with_blanks_at_ends, spread, with_curly_quotes]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text("ab \n", min_size=1, max_size=30), st.data())
def test_an_exact_match_is_plainly_replaced(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    old = text[start : data.draw(st.integers(start + 1, len(text)))]
    new = data.draw(st.text("abc\\$ \n", max_size=8))
    if text.count(old) == 1 and text.find(old, text.find(old) + 1) < 0:
        assert edited(text, EditRequest(old, new)) == text.replace(old, new)
    count = text.count(old)
    assert edited(text, EditRequest(old, new, count)) == text.replace(old, new)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edits(), st.sampled_from(IN_BOTH))
def test_disturbing_both_texts_changes_nothing(edit: tuple[list[str], int, list[str], list[str]], way: Disturb) -> None:
    lines, start, old, new = edit
    # What is the same without a disturbance is an exact match, and the new text is literal then.
    written = way(new) if way(old) == old else new
    intended = "\n".join([*lines[:start], *written, *lines[start + len(old) :]])
    got = edited("\n".join(lines), EditRequest("\n".join(way(old)), "\n".join(way(new))))
    assert got == intended


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edits(), st.sampled_from(IN_OLD))
def test_disturbing_the_old_text_changes_nothing(
    edit: tuple[list[str], int, list[str], list[str]], way: Disturb
) -> None:
    lines, start, old, new = edit
    intended = "\n".join([*lines[:start], *new, *lines[start + len(old) :]])
    assert edited("\n".join(lines), EditRequest("\n".join(way(old)), "\n".join(new))) == intended


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edits(), code(OTHERS), code(OTHERS), st.sampled_from(IN_OLD))
def test_unrelated_text_elsewhere_never_moves_an_edit(
    edit: tuple[list[str], int, list[str], list[str]], above: list[str], below: list[str], way: Disturb
) -> None:
    lines, start, old, new = edit
    intended = [*above, *lines[:start], *new, *lines[start + len(old) :], *below]
    got = edited("\n".join([*above, *lines, *below]), EditRequest("\n".join(way(old)), "\n".join(new)))
    assert got == "\n".join(intended)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from(["a b", "  a b", "c = 1", "", "}", "f(x)", "f(y)"]), max_size=12).map("\n".join), st.data()
)
def test_whatever_is_found_lies_within_the_lines_that_fit(text: str, data: st.DataObject) -> None:
    """Short lines that are all alike: most is refused, and nothing breaks."""
    lines = st.lists(st.sampled_from(["a  b", " a b", "c=1", "", "}", "f( x )", "g"]), min_size=1, max_size=4)
    old, new = ("\n".join(data.draw(lines)) for _ in range(2))
    framed = f"# first line, nobody's\n{text}\n# last line, nobody's\n"
    got = edited(framed, EditRequest(old, new))
    if got is not None and old not in framed:
        assert got.startswith("# first line, nobody's\n")
        assert got.endswith("# last line, nobody's\n")


def test_two_places_that_fit_as_well_are_both_told() -> None:
    found = find_edits(TextFile(b"go( 1 )\nstop\ngo( 1 )\n", UTF_8), EditRequest("go(1)", "go(2)"))
    assert isinstance(found, EditRefusal)
    assert [alignment.positions for alignment in found.nearest] == [(0,), (2,)]


@pytest.mark.parametrize("expected", [None, 500])
def test_of_a_great_many_places_all_are_changed_or_none(expected: int | None) -> None:
    text, request = "go( 1 )\nstop()\n", EditRequest("go(1)", "go(2)", expected)
    assert edited(text * 500, request) == "go( 2 )\nstop()\n" * 500
    assert edited(text * 501, request) is None


def test_a_text_of_too_many_lines_is_only_looked_for_as_it_was_given() -> None:
    for end in ("\n", "\r\n", "\r"):
        refused = find_edits(TextFile(b"go( 1 )\n" * 3_000, UTF_8), EditRequest(f"go(1){end}" * 2_001, "x"))
        assert refused == EditRefusal(0, is_too_large=True)


FILLING = b"some line of text\n" * (MAX_SEARCHED_BYTES // 36 + 1)
PLACE = b"def the_only_place(first, second):\n    return first.combined_with(second)\n"


def in_large_file(old: str, new: str) -> tuple[int, bytes] | EditRefusal:
    """How many bytes stand before the first edit of a large file, and what becomes of the place and a line around."""
    file = TextFile(FILLING + PLACE + FILLING, UTF_8)
    found = find_edits(file, EditRequest(old, new))
    if isinstance(found, EditRefusal):
        return found
    after = b"".join(file.apply_edits(found.edits).pieces)
    return found.edits[0].start, after[len(FILLING) - 18 : len(after) - len(FILLING) + 18]


def test_in_a_large_file_a_text_is_found_by_what_is_rare_in_it() -> None:
    old = "def the_only_plce(first,second):\n\treturn first.combined_with( second )"
    start, after = len(FILLING), b"some line of text\n%ssome line of text\n"
    assert in_large_file(old, old.replace("combined", "joined")) == (
        start + 52,
        after % PLACE.replace(b"combined", b"joined"),
    )
    numbered = "505291: def the_only_place(first, second):\n505292:     return first.combined_with(second)\n"
    assert in_large_file(numbered, "") == (start, after % b"")


def test_in_a_large_file_what_is_not_found_is_refused() -> None:
    assert in_large_file("some  line", "x") == EditRefusal(0, is_too_large=True)
    assert in_large_file("def nowhere_to_be_found():\n    pass", "x") == EditRefusal(0, is_too_large=True)
    refused = in_large_file("def the_only_place(first, second):\n    return first.combined_with(7)", "x")
    assert isinstance(refused, EditRefusal)
    assert refused.target is not None
    (nearest,) = refused.nearest
    assert refused.target.line_number(nearest.start) == FILLING.count(b"\n") + 1


def test_in_a_large_file_several_places_are_counted_and_no_more() -> None:
    file = TextFile(FILLING * 2 + b"needle, needle, pin", UTF_8)
    assert find_edits(file, EditRequest("needle", "x", 3)) == EditRefusal(2, is_too_large=True)
    assert isinstance(find_edits(file, EditRequest("pin", "needle")), EditMatch)


def test_one_very_long_line() -> None:
    file = TextFile(b"word " * 2_000_000, UTF_8)
    assert isinstance(find_edits(file, EditRequest("not there at all", "x")), EditRefusal)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_very_long_line_at_an_end_may_be_indented_otherwise(is_first: bool) -> None:
    line, call = f"words = '{'some words ' * 300}'", "run(words)"
    old = [line, call] if is_first else [call, line]
    new = [each.replace("run", "start") for each in old]
    text, after = ("\n".join(["if ready:", *(f"\t{each}" for each in lines), ""]) for lines in (old, new))
    given_text, wanted = ("\n".join(f"    {each}" for each in lines) for lines in (old, new))
    assert edited(text, EditRequest(given_text, wanted)) == after


def test_blanks_without_end() -> None:
    """To try each of so many for itself would take hours."""
    blanks = " " * 200_000
    request = EditRequest("first()\nsecond( 1 )\nthird()\n", "first()\nsecond( 2 )\nthird()\n")
    assert edited(f"first()\nsecond(1){blanks}\nthird()\n", request) == f"first()\nsecond(2){blanks}\nthird()\n"
    assert edited("first()\nsecond()\n", EditRequest(f"first()\n#{blanks}and more...!\nsecond()", "third()")) is None


@pytest.mark.parametrize("codec", ["utf-16-le", "cp932", "latin-1"])
def test_encodings(codec: str) -> None:
    encoding = TextEncoding(codec, b"")
    text = "first = 1\nsecond  = 2\nthird = 3\n"
    request = EditRequest("first = 1\nsecond = 2\n", "first = 1\nsecond = 4\n")
    assert edited(text, request, encoding) == "first = 1\nsecond  = 4\nthird = 3\n"


class TestBounds:
    LINE = "    client = make_client()\n"
    SLIP = "    client = make_clinet()\n"
    NEW = "    client = make_client(debug=True)\n"

    def test_all_of_many_equal_places_are_changed(self) -> None:
        text = "".join(f"def f{number}():\n{self.LINE}" for number in range(40))
        assert edited(text, EditRequest(self.SLIP, self.NEW, None)) == text.replace(self.LINE, self.NEW)

    @pytest.mark.parametrize("expected", [None, 1, 3])
    def test_none_of_more_places_than_are_compared_is_changed(self, expected: int | None) -> None:
        text = "".join(f"def f{number}():\n{self.LINE}" for number in range(130))
        assert edited(text, EditRequest(self.SLIP, self.NEW, expected)) is None

    def test_a_text_with_hundreds_of_slips_is_refused(self) -> None:
        pairs = [f"value_{number} = compute(other_{number})\nkept_{number} = value_{number}\n" for number in range(250)]
        text = "".join(pairs)
        old = text.replace("compute", "compote")
        assert edited(text, EditRequest(old, old + "more()\n")) is None

    def test_a_place_behind_very_many_like_it_is_reckoned_with(self) -> None:
        text = f"{self.LINE}{f'    {self.LINE}' * 90}{self.LINE}"
        assert edited(text, EditRequest(self.LINE.replace("\n", "  \n"), self.NEW)) is None
