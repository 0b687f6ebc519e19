"""Pages: one file, and texts stay texts."""

import pytest

from support.html_checks import HOSTILE_TEXTS
from support.page_checks import check_page
from tejat.batch.report.page import batch_page, key_figures, note, section


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_texts_stay_text(text: str) -> None:
    page = batch_page(text, [(text, text)], [key_figures([(text, text, text)]), section(text, note(text))])
    assert check_page(page).all_with_class("key-figures")


def test_an_empty_section_is_left_out() -> None:
    assert section("Models", "") == ""
