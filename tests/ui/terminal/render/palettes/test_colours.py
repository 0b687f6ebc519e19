"""Contrast, tints and basic colours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color, ColorSystem
from rich.color_triplet import ColorTriplet

from tejat.ui.terminal.render.palettes.colours import (
    MIN_CONTRAST,
    blend,
    contrast,
    luminance,
    nearest_ansi,
    readable_on,
)

BLACK, WHITE = ColorTriplet(0, 0, 0), ColorTriplet(255, 255, 255)
COLOURS = st.builds(ColorTriplet, *[st.integers(0, 255)] * 3)


def test_contrast_as_wcag_defines_it() -> None:
    assert contrast(BLACK, WHITE) == contrast(WHITE, BLACK) == pytest.approx(21)
    assert contrast(WHITE, WHITE) == pytest.approx(1)
    assert contrast(ColorTriplet(118, 118, 118), WHITE) == pytest.approx(4.54, abs=0.01)
    assert luminance(ColorTriplet(255, 0, 0)) == pytest.approx(0.2126)


def test_blends() -> None:
    assert blend(BLACK, WHITE, 0) == BLACK
    assert blend(BLACK, WHITE, 1) == WHITE
    assert blend(BLACK, ColorTriplet(100, 200, 0), 0.5) == ColorTriplet(50, 100, 0)


@given(COLOURS, COLOURS, st.sampled_from([ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT]))
def test_tints_are_readable_on_every_background(
    background: ColorTriplet, foreground: ColorTriplet, system: ColorSystem
) -> None:
    behind = Color.from_triplet(background)
    tint = readable_on(behind, Color.from_triplet(foreground), system)
    pair = (colour.downgrade(system).get_truecolor() for colour in (tint, behind))
    assert contrast(*pair) >= MIN_CONTRAST


def test_a_readable_colour_stays_as_it_is() -> None:
    green = Color.parse("#87d787")
    assert readable_on(Color.parse("#000000"), green, ColorSystem.TRUECOLOR) is green


@pytest.mark.parametrize(
    ("colour", "dark", "light"),
    [
        ("#ff5555", "red", "red"),
        ("#50fa7b", "green", "green"),
        ("#f1fa8c", "yellow", "magenta"),
        ("#8be9fd", "cyan", "blue"),
        ("#6272f4", "bright_blue", "blue"),
        ("#ff79f6", "magenta", "magenta"),
        ("#808080", "", ""),
        ("#000000", "", ""),
        ("#ffffff", "", ""),
    ],
)
def test_basic_colours_by_hue(colour: str, dark: str, light: str) -> None:
    assert nearest_ansi(Color.parse(colour), is_dark=True) == dark
    assert nearest_ansi(Color.parse(colour), is_dark=False) == light
