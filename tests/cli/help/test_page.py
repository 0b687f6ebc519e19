"""The layout of help pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.cli.help.page import HelpPage, HelpRow, HelpSection, format_page, wrap_text
from tejat.cli.help.parsers import all_parsers
from tejat.cli.help.run_page import run_page

PAGE = HelpPage(
    "tejat x",
    ("tejat x [FILE]", "tejat x --all"),
    "Do a thing that takes more than one line to describe, if lines are short.",
    (
        HelpSection("arguments", (HelpRow("FILE", "the file"),)),
        HelpSection("options", (HelpRow("-a, --all", "everything there is"), HelpRow("--limit N", "at most N"))),
    ),
    notes="A note.",
    examples=(HelpRow("tejat x a.txt", "one file"),),
    exit_codes=(HelpRow("0", "done"),),
)


def test_a_page() -> None:
    assert format_page(PAGE, 60) == (
        "usage: tejat x [FILE]\n"
        "       tejat x --all\n\n"
        "Do a thing that takes more than one line to describe, if\n"
        "lines are short.\n\n"
        "arguments:\n"
        "  FILE  the file\n\n"
        "options:\n"
        "  -a, --all  everything there is\n"
        "  --limit N  at most N\n\n"
        "A note.\n\n"
        "exit codes:\n"
        "  0  done\n\n"
        "examples:\n"
        "  tejat x a.txt  one file\n"
    )


@pytest.mark.parametrize("width", [40, 80, 100, 500])
def test_every_page_fits_the_terminal(width: int) -> None:
    """Usage lines, examples and words that are longer than the line cannot be broken."""
    for page in [run_page(), *(parser.page() for parser in all_parsers())]:
        body = format_page(page, width).partition("\n\n")[2]
        fixed = {f"  {row.label}" for row in page.examples}
        labels = {f"  {row.label}" for section in page.sections for row in section.rows}
        lines = [line for line in body.splitlines() if line not in fixed | labels and len(line.split()) > 1]
        assert [line for line in lines if len(line) > min(width, 100) and not line.startswith("  [[")] == []


@given(st.text(alphabet="ab \n", max_size=200), st.integers(10, 80))
def test_wrapping_loses_no_word(text: str, width: int) -> None:
    assert wrap_text(text, width).split() == text.split()
