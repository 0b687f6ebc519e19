"""A document is one file that is well-formed, loads nothing and runs nothing."""

import base64
import hashlib
import re

import pytest

from support.html_checks import HOSTILE_TEXTS, HtmlCheck
from tejat.ui.html.agent_block import children_slot
from tejat.ui.html.document import nest_blocks, read_style, render_document
from tejat.ui.html.transcript import BlockUpdate


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_headers_stay_text(text: str) -> None:
    shown = render_document(text, [(text, text)], [], note=text)
    check = HtmlCheck(shown)
    assert check.problems == []
    assert shown.count("<style>") == shown.count("</style>") == 1


def test_a_policy_allows_its_own_style_only() -> None:
    shown = render_document("T", [], [])
    style = re.search(r"<style>(.*?)</style>", shown, re.DOTALL)
    assert style is not None
    assert style[1] == read_style()
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'" in shown


def test_header_and_title() -> None:
    check = HtmlCheck(render_document("A\ntitle", [("Model", "m-1")], [], note="2 secrets were masked."))
    assert " ".join(check.text.split()) == "A title A titleModelm-12 secrets were masked. Conversation"
    assert ("html", {"lang": "en"}) in check.tags


def test_blocks_are_nested_in_their_parents() -> None:
    outer = BlockUpdate("b1", f'<div id="b1">a{children_slot("b1")}d</div>')
    middle = BlockUpdate("b2", f'<div id="b2">b{children_slot("b2")}</div>', "b1")
    inner = BlockUpdate("b3", '<p id="b3">c</p>', "b2")
    nested = nest_blocks([outer, middle, inner, BlockUpdate("b4", '<p id="b4">e</p>')])
    check = HtmlCheck(nested)
    assert check.problems == []
    assert "".join(check.text.split()) == "abcde"
