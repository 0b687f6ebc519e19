"""Outputs in a browser: what a notebook says about tables, code and paragraphs changes nothing inside of them."""

import pytest

from support.web.browser import Browser, Page, browser
from tejat.notebook.style import view_markup
from tejat.ui.html.diff import render_diff
from tejat.ui.html.markdown import render_markdown

__all__ = ["browser"]

# Selectors as heavy as those of JupyterLab.
NOTEBOOK = """
.page table { table-layout: fixed; margin: 0 0 2em; font-size: 30px; border-spacing: 0 }
:not(.markdown).page :is(td, th, tr) { padding: 2em; text-align: right; vertical-align: middle; white-space: normal }
.page tbody tr:nth-child(odd) { background: red }
.page tbody tr:hover { background: blue }
.theme .page :is(pre, code) { margin: 2em; padding: 1em; background: yellow; font: 40px serif; white-space: nowrap }
.theme .page :not(pre) > code { padding: 3em }
.page :is(p, ul, ol, li, h3, blockquote, details, summary) { margin: 3em; color: red; font: 9px serif }
.page :is(strong, em, a, mark) { border: 1px solid red; color: red; font: 9px serif }
.page ul { list-style: square }
"""
MARKDOWN = """
# Heading

A **bold** word, an *italic* one, `code` and a [link](https://example.org).

- one
  1. two
- three

> quoted

| a | b |
| - | -:|
| 1 | 2 |
| 3 | 4 |

```python
print("hello")
```
"""
DIFF = "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+too\n"
OUTPUT = view_markup(
    f'<section class="block question"><details class="answered" open><summary>Run</summary></details></section>'
    f'<div class="md">{render_markdown(MARKDOWN)}</div>'
    f"{render_diff(DIFF, file_name='a.py', with_files=False, with_split=False)}"
)
STYLES = """() => [...document.querySelectorAll(".tejat-view > :not(style), .tejat-view > * *")].map((each) => {
  const style = getComputedStyle(each);
  return [each.outerHTML.slice(0, 60), ...[...style].map((name) => `${name}: ${style.getPropertyValue(name)}`)];
})"""


def styles(page: Page, style: str) -> list[list[str]]:
    """The computed style of each element of the output, on a page with this style sheet."""
    markup = f'<style>{style}</style><body class="theme"><div class="page"><div>{OUTPUT}</div></div>'
    page.call("setContent", f"<!doctype html>{markup}")
    return page.evaluate(STYLES)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_styles_of_the_notebook_stay_outside(browser: Browser, scheme: str) -> None:
    with browser.page(colorScheme=scheme) as page:
        plain, inside = styles(page, ""), styles(page, NOTEBOOK)
    assert len(plain) > 40
    changes = [sorted(set(mine) - set(alone)) for mine, alone in zip(inside, plain, strict=True)]
    assert [(mine[0], change) for mine, change in zip(inside, changes, strict=True) if change] == []
    (sign,) = [each for each in inside if each[0].startswith('<td class="text">') and "too" in each[0]]
    assert "text-align: left" in sign or "text-align: start" in sign
