"""Colours of the terminals in pictures: one dark and one light scheme."""

from dataclasses import dataclass

from support.terminal.emulator import Style

_CUBE = (0, 95, 135, 175, 215, 255)


@dataclass(frozen=True)
class Palette:
    """A colour scheme: default colours, the frame around the picture, and the sixteen ANSI colours."""

    name: str
    foreground: str
    background: str
    border: str
    ansi: tuple[str, ...]

    def colours_of(self, style: Style) -> tuple[str, str]:
        """Foreground and background of a cell; the background is "" where it is the default one."""
        foreground = self._resolve(style.fg) or self.foreground
        background = self._resolve(style.bg)
        if style.reverse:
            return background or self.background, foreground
        return foreground, background

    def _resolve(self, colour: str) -> str:
        if not colour or colour.startswith("#"):
            return colour
        number = int(colour)
        if number < 16:
            return self.ansi[number]
        if number < 232:
            number -= 16
            return _hex(_CUBE[number // 36], _CUBE[number // 6 % 6], _CUBE[number % 6])
        grey = 8 + (number - 232) * 10
        return _hex(grey, grey, grey)


def _hex(red: int, green: int, blue: int) -> str:
    return f"#{red:02x}{green:02x}{blue:02x}"


DARK = Palette(
    "dark",
    "#e6edf3",
    "#0d1117",
    "#30363d",
    (
        *("#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4"),
        *("#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff"),
    ),
)
LIGHT = Palette(
    "light",
    "#1f2328",
    "#ffffff",
    "#d0d7de",
    (
        *("#24292f", "#cf222e", "#116329", "#7d4e00", "#0969da", "#8250df", "#1b7c83", "#6e7781"),
        *("#57606a", "#a40e26", "#1a7f37", "#633c01", "#218bff", "#a475f9", "#3192aa", "#8c959f"),
    ),
)
