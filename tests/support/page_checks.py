"""Checks of whole pages with charts: HTML that loads nothing, links only to files beside it."""

import base64
import hashlib
import re
import xml.etree.ElementTree as ET

from support.html_checks import HtmlCheck
from support.svg_geometry import check_drawing, drawings


def check_page(markup: str) -> HtmlCheck:
    """The parsed page. Raises AssertionError for anything that runs, loads or breaks the markup."""
    check = HtmlCheck(markup)
    # Charts are inline SVG, and links lead to files relative to the page.
    assert [each for each in check.problems if each != "<svg>" and not each.startswith("link to ")] == []
    for address in links(check):
        assert re.fullmatch(r"[\w./%~-]+", address), address
        assert not address.startswith("/")
    style = re.search(r"<style>(.*?)</style>", markup, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in markup
    assert not re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org/2000/svg)", style[1])
    return check


def links(check: HtmlCheck) -> list[str]:
    return [attributes["href"] for tag, attributes in check.tags if tag == "a"]


def check_charts(markup: str) -> int:
    """Check the geometry of all charts, and return how many there are."""
    figures = re.findall(r"<figure.*?</figure>", markup, re.DOTALL)
    for figure in figures:
        ET.fromstring(figure)
        for drawing in drawings(figure):
            check_drawing(drawing)
        assert "<table>" in figure or "chart-empty" in figure
    return len(figures)
