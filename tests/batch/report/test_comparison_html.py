"""The comparison as a page."""

from pathlib import Path

import pytest

from support.batch_results import errored, failed, many_results, passed
from support.html_checks import HOSTILE_TEXTS
from support.page_checks import check_charts, check_page
from support.web.browser import PHONE, Browser
from tejat.batch.report.comparison import compare_batches
from tejat.batch.report.comparison_html import render_comparison_page


def test_a_page() -> None:
    first = [passed("a"), passed("b"), failed("c"), passed("d")]
    second = [passed("a"), failed("b"), failed("c"), errored("d"), passed("e")]
    page = render_comparison_page(compare_batches(first, second, first_name="gemini", second_name="gpt"))
    check = check_page(page)
    assert check_charts(page) == 1
    assert "This may be chance" in check.text
    assert "passed only in gemini (1)" in check.text
    assert "in one batch only (1)" in check.text


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_texts_stay_text(text: str) -> None:
    page = render_comparison_page(compare_batches([passed(text)], [failed(text)], first_name=text, second_name=text))
    check_page(page)
    check_charts(page)


def test_no_results() -> None:
    check_page(render_comparison_page(compare_batches([], [], first_name="A", second_name="B")))


def test_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    compared = compare_batches(many_results(60), many_results(62, 2), first_name="gemini-2.5-pro", second_name="gpt-5")
    file = tmp_path / "diff.html"
    file.write_text(render_comparison_page(compared))
    for scheme in ("dark", "light"):
        with browser.page(viewport=PHONE, colorScheme=scheme) as page:
            page.open(file.as_uri())
            assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
            assert page.check_accessibility() == []
            assert page.log["console"] == []
