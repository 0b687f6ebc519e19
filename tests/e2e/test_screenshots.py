"""The pictures in docs/images show the program as it is. `.venv/bin/python scripts/screenshots` makes them anew."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from support.pictures.animation import read_moments
from support.pictures.gallery import ANIMATION, IMAGES, PICTURES, SCHEMES, crop
from support.pictures.palette import DARK
from support.pictures.shop_session import Take, record
from support.pictures.substitution import TIMES, substitute_text
from support.pictures.svg import NAMESPACE, read_text
from support.source_tree import ROOT

MAX_BYTES = 400_000
FILES = [f"{name}-{palette.name}.svg" for name in (*PICTURES, ANIMATION) for palette in SCHEMES]
DIFFERENT = (
    *TIMES,
    (re.compile(r", 8 s(?=\))| \(8 s\)"), ""),  # of commands that took a second or more
    (re.compile(r"\b\d+\.\d+\.\d+(?:\.?\w+)?\b"), "VERSION"),
    (re.compile(r"\$\d+\.\d+"), "COST"),
)
"""What may differ: times, the version of the program, and prices, which are updated."""
HOW = "run .venv/bin/python scripts/screenshots and look at the pictures"


@pytest.fixture(scope="module")
def take() -> Take:
    recorded = record(DARK)
    if "no sandbox" in "\n".join(recorded.screens["start"].text()):
        pytest.skip("the pictures show a machine with a sandbox")
    return recorded


def rows(lines: list[str]) -> list[str]:
    return substitute_text("\n".join(lines).rstrip().split("\n"), DIFFERENT)


def test_screens_are_up_to_date(take: Take) -> None:
    for name in PICTURES:
        seen = rows(crop(take, name).text())
        for palette in SCHEMES:
            picture = (IMAGES / f"{name}-{palette.name}.svg").read_text(encoding="utf-8")
            assert rows(read_text(picture)) == seen, f"{name}-{palette.name}.svg is out of date: {HOW}"


def test_animations_are_up_to_date(take: Take) -> None:
    moments = {frame.moment: rows(frame.screen.text()) for frame in take.frames if frame.moment}
    assert len(moments) >= 5
    for palette in SCHEMES:
        picture = (IMAGES / f"{ANIMATION}-{palette.name}.svg").read_text(encoding="utf-8")
        shown = {moment: rows(lines) for moment, lines in read_moments(picture).items()}
        assert shown == moments, f"{ANIMATION}-{palette.name}.svg is out of date: {HOW}"


@pytest.mark.parametrize("name", FILES)
def test_pictures_work_on_any_page(name: str) -> None:
    """No script, nothing loaded from elsewhere, nothing that pages filter out, and not too large."""
    text = (IMAGES / name).read_text(encoding="utf-8")
    assert len(text.encode()) < MAX_BYTES
    root = ET.fromstring(text)
    assert {element.tag.removeprefix(NAMESPACE) for element in root.iter()} <= {
        *("svg", "title", "style", "rect", "path", "text", "g", "defs", "use")
    }
    assert "url(" not in text
    assert "@import" not in text
    assert re.findall(r'href="(?!#)', text) == []


def test_every_picture_is_used() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {Path(found).name for page in pages for found in re.findall(r"[\w./-]+\.svg", page.read_text("utf-8"))}
    assert shown == set(FILES)
    assert {path.name for path in IMAGES.iterdir()} == set(FILES)
