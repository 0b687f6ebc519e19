"""The documentation site: built strictly and offline, with links that lead somewhere and nothing from other hosts."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import tejat
from support.source_tree import ROOT


class Page(HTMLParser):
    """The ids of a page, its links, and what a browser loads with it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids, self.links, self.loaded = set[str](), list[str](), list[str]()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        target = given.get("src") or given.get("srcset") or given.get("href", "")
        if tag == "a":
            self.links.append(target)
        elif target:
            self.loaded.append(target)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, whose builder fails for a missing page, file or anchor, and for a page outside the navigation."""
    place = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", place]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}


def test_every_page_is_built(site: Path) -> None:
    names = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert {path.relative_to(site) for path in site.rglob("*.html")} - {Path("404.html")} == names


def test_the_reference_shows_every_public_name(pages: dict[Path, Page]) -> None:
    ids = {found for path, page in pages.items() if path.parent.name == "reference" for found in page.ids}
    assert {f"tejat.{name}" for name in tejat._NAMES} - ids == set()


def test_links_and_anchors_lead_somewhere(pages: dict[Path, Page]) -> None:
    broken = [
        f"{path.name}: {link}" for path, page in pages.items() for link in page.links if not leads(path, link, pages)
    ]
    assert broken == []


def leads(path: Path, link: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme:
        return parts.scheme in ("https", "mailto")
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return False
    return not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].ids


def test_nothing_is_loaded_from_another_host(pages: dict[Path, Page]) -> None:
    foreign = {target for page in pages.values() for target in page.loaded if urlsplit(target).netloc}
    assert foreign == set()
    missing = [
        f"{path.name}: {target}"
        for path, page in pages.items()
        for target in page.loaded
        if not target.startswith("data:") and not (path.parent / urlsplit(target).path).exists()
    ]
    assert missing == []
