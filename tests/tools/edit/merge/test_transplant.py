"""A change that was meant for one text is made in another: what it leaves alone stays, what is doubtful is refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.tools.edit.merge.transplant import transplant_change


@pytest.mark.parametrize(
    ("old", "found", "new", "becomes"),
    [
        pytest.param("retun x", "return x", "retun x + 1", "return x + 1", id="a slip beside the change"),
        pytest.param("retun x", "return x", "yield x", "yield x", id="a slip in what is replaced"),
        pytest.param("retun x", "return x", "return x", "return x", id="what the change wants is there"),
        pytest.param("retun x\n", "return x\n", "", "", id="a slip in what is deleted"),
        pytest.param("a\nretun x\nb", "a\nreturn x\nb", "a\nb", "a\nb", id="a slip in a line that is deleted"),
        pytest.param("retun x", "return x", "y = 2\nretun x", "y = 2\nreturn x", id="a slip behind a new line"),
        pytest.param("f(a, b)", "f(a,  c)", "g(a, b)", "g(a,  c)", id="words that the change leaves alone"),
        pytest.param("f( a )", "f(a)", "g( a )", "g(a)", id="white space in a changed line"),
        pytest.param("a\nb", "a\n# note\nb", "a\nB", "a\n# note\nB", id="a line too few before the change"),
        pytest.param("a\nb", "a\n# note\nb", "A\nb", "A\n# note\nb", id="a line too few behind the change"),
        pytest.param("a\n\nb\nc", "a\nb\nc", "a\n\nb\nC", "a\nb\nC", id="a blank line too many"),
        pytest.param("x\ny\nz", "x\nz", "x\ny\nZ", "x\nZ", id="a line that is gone and was to stay"),
        pytest.param("foo\n", "foo", "bar\n", "bar", id="no line end behind it"),
        pytest.param("foo", "\n\nfoo\n", "bar", "\n\nbar\n", id="blank lines around it"),
        pytest.param("foo\n", "foo\n", "foo\n\n", "foo\n\n", id="blank lines that the change adds"),
        pytest.param("    foo", "foo", "    bar", "bar", id="indented too far"),
        pytest.param("a\nb", "a\n  b", "a\nc", "a\n  c", id="indented like the line that it replaces"),
        pytest.param("    a\n  b", "  a\nb", "    a\n      c\n  b", "  a\n    c\nb", id="indented too far, more so"),
        pytest.param(
            "\tif a:\n\t\tgo()",
            "    if a:\n        go()",
            "\tif b:\n\t\tgo()\n\t\tstop()\n\n\tend()",
            "    if b:\n        go()\n        stop()\n\n    end()",
            id="tabs for spaces",
        ),
        pytest.param(
            "\tif a:\n\t\tgo()",
            "    if a:\n        go()",
            "\tif a:\n\t\tgo()\n\t\t\tx",
            "    if a:\n        go()\n            x",
            id="a depth never seen",
        ),
        pytest.param(
            "if a:\n    go()",
            "        if a:\n            go()",
            "if a:\n    go()\n        deep()\nelse:\n    run()",
            "        if a:\n            go()\n                deep()\n        else:\n            run()",
            id="shifted",
        ),
    ],
)
def test_certain(old: str, found: str, new: str, becomes: str) -> None:
    assert transplant_change(old, found, new) == becomes


@pytest.mark.parametrize(
    ("old", "found", "new"),
    [
        pytest.param("timeout = 30", "timeout = 60", "timeout = 90", id="another value is replaced"),
        pytest.param("version 1\n", "version 2\n", "", id="another number is deleted"),
        pytest.param("is_enabled", "is_disabled", "is_active", id="the opposite"),
        pytest.param("f(a, b)", "f(a, c)", "f(a, d)", id="both changed the same word"),
        pytest.param("a\nb", "a\n# note\nb", "a\nx\nb", id="lines of both at one place"),
        pytest.param("a\nb", "a\n# note\nb", "X\nY", id="a line amid the change"),
        pytest.param("a\nb\nc", "a\nc", "a\nB\nc", id="the changed line is gone"),
        pytest.param("foo\n", "foo", "", id="the line end was to go too, and is not there"),
        pytest.param("foo\n", "foo", "bar", id="the line end was to go, and is not there"),
        pytest.param("  a\n  b", "  a\n    b", "  a\n  b\n  c", id="one depth written in two ways"),
    ],
)
def test_doubtful(old: str, found: str, new: str) -> None:
    assert transplant_change(old, found, new) is None


LINES = st.lists(st.sampled_from(["a", "b", "  c", "\td e", "f(g)", "", "   "]), max_size=8)
TEXTS = LINES.map("\n".join) | st.text("ab \t\n", max_size=12)


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS)
def test_in_the_text_it_was_meant_for_it_is_what_it_was(old: str, new: str) -> None:
    assert transplant_change(old, old, new) == new


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS)
def test_a_change_of_nothing_changes_nothing(old: str, found: str) -> None:
    assert transplant_change(old, found, old) == found


PLAIN = st.lists(st.sampled_from(["a", "b", "    c", "    d", "        e"]), min_size=1, max_size=8)


@settings(max_examples=300, deadline=None)
@given(PLAIN, PLAIN, st.sampled_from(["    ", "\t", "  "]))
def test_a_shift_is_carried_over(old: list[str], new: list[str], shift: str) -> None:
    # A line that both have shows that the new text was written over the old one, and not over the file.
    old, new = ["head:", *old], ["head:", *new]
    found = "\n".join(shift + line for line in old)
    expected = "\n".join(shift + line for line in new)
    assert transplant_change("\n".join(old), found, "\n".join(new)) == expected


@settings(max_examples=300, deadline=None)
@given(PLAIN, PLAIN, st.lists(st.integers(0, 8), min_size=1, max_size=3, unique=True))
def test_what_nobody_thought_of_is_never_lost(old: list[str], new: list[str], places: list[int]) -> None:
    found = list(old)
    for place in places:
        found.insert(place, f"# somebody's note {place}")
    merged = transplant_change("\n".join(old), "\n".join(found), "\n".join(new))
    if merged is not None:
        notes = [line for line in merged.split("\n") if line.startswith("#")]
        assert notes == [line for line in found if line.startswith("#")]
