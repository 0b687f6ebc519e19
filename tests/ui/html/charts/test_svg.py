"""Pieces of charts, and the style sheet that colours them."""

import re
from importlib.resources import files
from itertools import pairwise

import pytest

from support.svg_geometry import parse_figure
from tejat.ui.html.charts import svg

STYLE = (files("tejat.ui.html.charts") / "charts.css").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "hostile", ['"><script>alert(1)</script>', "&amp;", "\x00\x1b[2J", "\u202egnp.exe", "a\nb", "]]>"]
)
def test_hostile_texts_are_harmless(hostile: str) -> None:
    figure = parse_figure(
        svg.figure(
            hostile,
            [
                svg.drawing(
                    svg.text(0, 0, hostile), 10, chart_id="c", layout=svg.WIDE, title=hostile, description=hostile
                )
            ],
            svg.table([hostile, "b"], [[hostile, hostile]], caption=hostile, texts=(1,)),
            notes=[hostile],
        )
    )
    assert not any(element.tag.endswith("script") for element in figure.iter())
    content = "".join(figure.itertext())
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", content)


def test_a_long_text_is_cut_to_its_width() -> None:
    for content in ("short", "x" * 100, "日本語" * 20, "W" * 40):
        assert svg.text_width(svg.fit_text(content, 120)) <= 120 + 13.5
    assert svg.fit_text("short", 120) == "short"
    assert svg.fit_text("x" * 100, 50).endswith("…")


def _colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--(series-\d|chart-bg|chart-text|chart-quiet): (?:var\(--\w+, )?(#[0-9a-f]{6})", block))


def _luminance(colour: str) -> float:
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _dichromat(colour: str, matrix: list[list[float]]) -> list[float]:
    """The colour as people without red or green cones see it (Viénot 1999), in linear light."""
    parts = [(int(colour[index : index + 2], 16) / 255) ** 2.2 for index in (1, 3, 5)]
    linear = [sum(factor * part for factor, part in zip(row, parts, strict=True)) for row in matrix]
    return [max(0.0, part) ** (1 / 2.2) * 255 for part in linear]


PROTAN = [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]]
DEUTAN = [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_are_visible_and_neighbours_differ_for_colour_blind_people(theme: str) -> None:
    light, *dark = (_colours(block) for block in re.findall(r":root[^{]*\{([^}]*)\}", STYLE))
    assert dark[0] == dark[1]
    colours = light if theme == "light" else dark[0]
    assert len(colours) == svg.SERIES_COUNT + 3
    for number in range(svg.SERIES_COUNT):
        assert _contrast(colours[f"series-{number}"], colours["chart-bg"]) >= 3
    assert min(_contrast(colours[name], colours["chart-bg"]) for name in ("chart-text", "chart-quiet")) >= 4.5
    for matrix in (PROTAN, DEUTAN):
        seen = [_dichromat(colours[f"series-{number}"], matrix) for number in range(svg.SERIES_COUNT)]
        for one, other in pairwise(seen):
            assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 25


def test_the_style_has_a_rule_for_every_class_and_no_foreign_address() -> None:
    used = {f"series-{number}" for number in range(svg.SERIES_COUNT)} | {"hatch", "hatch-dot", "chart-failed"}
    assert all(f".{name} {{" in STYLE for name in used)
    assert "url(" not in STYLE
    assert "@import" not in STYLE


def test_texts_are_at_least_eleven_pixels_on_a_phone() -> None:
    (size,) = re.findall(r"font-size: (\d+)px", STYLE)
    (switch,) = re.findall(r"@container \(max-width: (\d+)px\)", STYLE)
    assert int(size) == svg.FONT_SIZE
    assert (390 - 2 * 16) / svg.NARROW.width * svg.FONT_SIZE >= 11
    assert (int(switch) + 1) / svg.WIDE.width * svg.FONT_SIZE >= 11
