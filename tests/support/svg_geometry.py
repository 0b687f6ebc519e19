"""The geometry of charts, read from their markup as XML."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from itertools import combinations

from tejat.ui.html.charts.svg import text_width

SVG = "{http://www.w3.org/2000/svg}"
_TEXT_HEIGHT = 12.0


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    label: str
    class_: str = ""
    fill: str = ""

    def overlaps(self, other: "Box") -> bool:
        is_beside = self.x + self.width <= other.x or other.x + other.width <= self.x
        return not is_beside and self.y < other.y + other.height and other.y < self.y + self.height


@dataclass(frozen=True)
class Drawing:
    """One SVG of a chart."""

    name: str
    width: float
    height: float
    bars: list[Box]
    texts: list[Box]
    root: ET.Element


def parse_figure(markup: str) -> ET.Element:
    """The figure as XML. Raises ParseError for markup that is not well-formed."""
    return ET.fromstring(markup)


def drawings(markup: str) -> list[Drawing]:
    return [_read(each) for each in parse_figure(markup).iter(f"{SVG}svg")]


def check_drawing(drawing: Drawing) -> None:
    """Everything is inside the drawing, no text touches another, and nothing is painted without a class."""
    for box in (*drawing.bars, *drawing.texts):
        assert box.x >= -0.01, box
        assert box.y >= -0.01, box
        assert box.x + box.width <= drawing.width + 0.01, box
        assert box.y + box.height <= drawing.height + 0.01, box
    touching = [(one.label, other.label) for one, other in combinations(drawing.texts, 2) if one.overlaps(other)]
    assert touching == []
    for element in drawing.root.iter():
        assert not {"style", "onload", "onclick"} & set(element.attrib)
        assert element.get("fill", "url(#").startswith("url(#")
    identities = {each.get("id") for each in drawing.root.iter() if each.get("id")}
    assert {box.fill[5:-1] for box in drawing.bars if box.fill} <= identities
    assert drawing.root.get("role") == "img"
    assert set((drawing.root.get("aria-labelledby") or "").split()) <= identities


def _read(svg: ET.Element) -> Drawing:
    _, _, width, height = map(float, (svg.get("viewBox") or "").split())
    definitions = {each for patterns in svg.iter(f"{SVG}defs") for each in patterns.iter()}
    bars = [_read_bar(each) for each in svg.iter(f"{SVG}rect") if each not in definitions]
    texts = [_read_text(each) for each in svg.iter(f"{SVG}text")]
    return Drawing(svg.get("class") or "", width, height, bars, texts, svg)


def _read_bar(rect: ET.Element) -> Box:
    x, y, width, height = (float(rect.get(name) or 0) for name in ("x", "y", "width", "height"))
    title, class_, fill = rect.findtext(f"{SVG}title") or "", rect.get("class") or "", rect.get("fill") or ""
    return Box(x, y, width, height, title, class_, fill)


def _read_text(text: ET.Element) -> Box:
    content = text.text or ""
    width = text_width(content)
    x = float(text.get("x") or 0) - {"start": 0.0, "middle": width / 2, "end": width}[text.get("text-anchor") or ""]
    return Box(x, float(text.get("y") or 0) - _TEXT_HEIGHT + 2, width, _TEXT_HEIGHT, content)
