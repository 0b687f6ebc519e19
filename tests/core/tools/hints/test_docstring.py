"""What docstrings of the three common styles tell."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.tools.hints.docstring import Docstring, parse_docstring

GOOGLE = """Finds a book
    in the library.

    More that a person reads.

    Args:
        title (str): What it is called: in full.
        pages (list[int], optional): Which pages
            of it,

            and why.
        **options: Whatever else.
        left_out:

    Returns:
        title: not a parameter.

    Raises:
        ValueError: neither.
    """

SPHINX = """Finds a book.

    :param title: What it is called,
        in full.
    :type title: str
    :param list[int] pages: Which pages.
    :keyword year: When.
    :returns: a book

    :raises ValueError: never
    """

NUMPY = """Finds a book.

    Parameters
    ----------
    title : str
        What it is called,
        in full.
    pages, lines : list of int, optional
        Which of them.
    bare
        Without a type.

    Returns
    -------
    year
        Not a parameter.

    Other Parameters
    ----------------
    *rest
        Further ones.
    """


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            GOOGLE,
            Docstring(
                "Finds a book in the library.",
                {
                    "title": "What it is called: in full.",
                    "pages": "Which pages of it, and why.",
                    "options": "Whatever else.",
                },
            ),
        ),
        (
            SPHINX,
            Docstring(
                "Finds a book.", {"title": "What it is called, in full.", "pages": "Which pages.", "year": "When."}
            ),
        ),
        (
            NUMPY,
            Docstring(
                "Finds a book.",
                {
                    "title": "What it is called, in full.",
                    "pages": "Which of them.",
                    "lines": "Which of them.",
                    "bare": "Without a type.",
                    "rest": "Further ones.",
                },
            ),
        ),
        ("", Docstring("", {})),
        ("\n\n  Only this.  \n", Docstring("Only this.", {})),
        ("One line.\nArgs:\n    x: A number.", Docstring("One line.", {"x": "A number."})),
        ("One line.\n:param x: A number.", Docstring("One line.", {"x": "A number."})),
        ("One line.\nParameters\n----------\nx\n    A number.", Docstring("One line.", {"x": "A number."})),
        ("A value.\n\nAttributes:\n    x: A number.", Docstring("A value.", {"x": "A number."})),
        ("See: the manual.\nAnd more.", Docstring("See: the manual. And more.", {})),
        ("What.\n\nExample:\n    x: no parameter", Docstring("What.", {})),
        ("What.\n\nExamples\n--------\nx\n    no parameter", Docstring("What.", {})),
    ],
)
def test_what_is_told(text: str, told: Docstring) -> None:
    assert parse_docstring(text) == told


@given(st.text(alphabet="Ax: -\n*()param", max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read(text: str) -> None:
    told = parse_docstring(text)
    assert "\n" not in told.summary
    assert all(name.isidentifier() and said.strip() == said != "" for name, said in told.parameters.items())
