"""Code is split into tokens, and its text stays as it is."""

from hypothesis import given
from hypothesis import strategies as st

from tejat.ui.shared.text.code_tokens import (
    CHUNK_LINES,
    MAX_HIGHLIGHT_CHARS,
    CodeRole,
    code_context,
    split_source,
    split_tokens,
)


def test_tokens_have_roles() -> None:
    assert split_tokens(['def f(): return "x"  # y', ""], "python") == [
        [
            ("def", CodeRole.KEYWORD),
            (" ", None),
            ("f", CodeRole.NAME),
            ("(): ", None),
            ("return", CodeRole.KEYWORD),
            (" ", None),
            ('"x"', CodeRole.STRING),
            ("  ", None),
            ("# y", CodeRole.COMMENT),
        ],
        [],
    ]


def test_unknown_languages_and_huge_code_stay_plain() -> None:
    assert split_tokens(["if True:"], "no such language") == [[("if True:", None)]]
    huge = "if True: " * MAX_HIGHLIGHT_CHARS
    assert split_tokens([huge], "python") == [[(huge, None)]]


@given(
    st.lists(st.text(st.characters(exclude_categories=["C"])), min_size=1, max_size=60),
    st.sampled_from(["python", "html", "sh", "md", ""]),
)
def test_the_text_stays(lines: list[str], language: str) -> None:
    found = split_source("\n".join([*lines, "end"]), language)
    assert ["".join(text for text, _role in line) for line in found] == [*lines, "end"]


def test_what_is_remembered_of_long_code_is_bounded() -> None:
    before: tuple[str, ...] = ()
    for _ in range(100):
        before = code_context(before, ["x" * 80] * CHUNK_LINES)
        assert len(before) <= 5 * CHUNK_LINES
        assert sum(map(len, before)) <= MAX_HIGHLIGHT_CHARS // 2
    assert code_context((), ["x" * 100_000]) == ()
