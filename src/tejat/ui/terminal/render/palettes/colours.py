"""Colour arithmetic: contrast as WCAG defines it, blending, and what fewer colours leave of a colour."""

from colorsys import rgb_to_hls
from functools import lru_cache

from rich.color import Color, ColorSystem
from rich.color_triplet import ColorTriplet

MIN_CONTRAST = 4.5
"""Contrast of text that WCAG 2 demands at level AA."""

_BLACK, _WHITE = ColorTriplet(0, 0, 0), ColorTriplet(255, 255, 255)
_STEPS = 10
_MIN_SATURATION = 0.2


def luminance(colour: ColorTriplet) -> float:
    """Return the relative luminance, from 0 for black to 1 for white."""
    red, green, blue = (_linear(part / 255) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: ColorTriplet, second: ColorTriplet) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    darker, lighter = sorted((luminance(first), luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def blend(colour: ColorTriplet, other: ColorTriplet, share: float) -> ColorTriplet:
    """Mix a share of another colour into a colour."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(colour, other, strict=True))
    return ColorTriplet(red, green, blue)


@lru_cache(512)
def readable_on(
    background: Color, foreground: Color, system: ColorSystem, *, min_contrast: float = MIN_CONTRAST
) -> Color:
    """Return the foreground, or the nearest tint of it that is readable on the background in this colour system."""
    behind = background.downgrade(system).get_truecolor()
    wanted = foreground.get_truecolor()
    towards = max((_BLACK, _WHITE), key=lambda extreme: contrast(extreme, behind))
    for step in range(_STEPS + 1):
        candidate = Color.from_triplet(blend(wanted, towards, step / _STEPS)) if step else foreground
        if contrast(candidate.downgrade(system).get_truecolor(), behind) >= min_contrast:
            return candidate
    return Color.from_triplet(towards)


@lru_cache(512)
def nearest_ansi(colour: Color, *, is_dark: bool) -> str:
    """Return the name of the basic colour with the nearest hue, empty for greys, which may not be readable."""
    hue, _, saturation = rgb_to_hls(*(part / 255 for part in colour.get_truecolor()))
    if saturation < _MIN_SATURATION:
        return ""
    name = _HUES[round(hue * len(_HUES)) % len(_HUES)]
    if is_dark:
        return "bright_blue" if name == "blue" else name
    return {"yellow": "magenta", "cyan": "blue"}.get(name, name)  # both are too bright on white


_HUES = ("red", "yellow", "green", "cyan", "blue", "magenta")


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
