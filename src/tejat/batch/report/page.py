"""Pieces of the HTML pages of batches."""

import os
from collections.abc import Iterable, Sequence

from tejat.ui.html.document import STYLE_FILE, read_style, render_page
from tejat.ui.html.markup import escape_line

_CHART_STYLE = os.path.join(os.path.dirname(STYLE_FILE), "charts", "charts.css")
_OWN_STYLE = os.path.join(os.path.dirname(__file__), "page.css")


def batch_page(title: str, facts: Sequence[tuple[str, str]], sections: Iterable[str]) -> str:
    """A whole page that needs no other file: no scripts, nothing to load."""
    return render_page(title, facts, f"<main>{''.join(sections)}</main>", style=_page_style())


def section(title: str, content: str) -> str:
    """A section with a heading, empty without content."""
    return f"<section><h2>{escape_line(title)}</h2>{content}</section>" if content else ""


def key_figures(figures: Iterable[tuple[str, str, str]]) -> str:
    """Names, values and what is to be known about them."""
    items = "".join(
        f"<div><dt>{escape_line(name)}</dt><dd>{escape_line(value)}</dd>"
        + (f'<dd class="figure-detail">{escape_line(detail)}</dd>' if detail else "")
        + "</div>"
        for name, value, detail in figures
    )
    return f'<dl class="key-figures">{items}</dl>'


def note(text: str) -> str:
    return f'<p class="history-note">{escape_line(text)}</p>'


def _page_style() -> str:
    return read_style() + _read(_CHART_STYLE) + _read(_OWN_STYLE)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
