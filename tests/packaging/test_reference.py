"""The API reference: every public name once, in pages that are up to date."""

import re
import runpy
from collections import Counter
from typing import Any

import pytest

import tejat
from support.source_tree import ROOT

PAGES = ROOT / "docs" / "python" / "reference"
SHOWN = re.compile(r"^::: (\S+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "scripts" / "reference"))


def test_every_public_name_is_shown_once() -> None:
    shown = Counter(name for page in PAGES.glob("*.md") for name in SHOWN.findall(page.read_text(encoding="utf-8")))
    public = {f"tejat.{name}" for name in tejat._NAMES}
    assert {name for name in shown if name.count(".") == 1} == public
    assert set(shown.values()) == {1}


def test_pages_are_up_to_date(script: dict[str, Any]) -> None:
    found = {page.name: page.read_text(encoding="utf-8") for page in PAGES.glob("*.md")}
    assert found == script["pages"](), "Run `.venv/bin/python scripts/reference`."


def test_a_name_without_a_topic_is_reported(script: dict[str, Any]) -> None:
    with pytest.raises(SystemExit, match=r"tejat\.New of core\.new has no topic"):
        script["topic_of"]("New", "core.new")
    assert script["topic_of"]("New", "core.tools.call_events") == "events"
