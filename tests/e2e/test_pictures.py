"""Pictures of screens: the same text in the same cells, whatever stands there."""

import re
import xml.etree.ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st

from support.pictures.animation import Frame, read_moments, render_animation
from support.pictures.palette import DARK, LIGHT
from support.pictures.substitution import TIMES, substitute
from support.pictures.svg import CELL_HEIGHT, CELL_WIDTH, NAMESPACE, Screen, read_text, render_screen, take_screen
from support.terminal.emulator import TerminalEmulator

ROWS = st.lists(st.text(st.sampled_from(" ab<&>\"'─│╭█▌✓日本é\N{GRINNING FACE}"), max_size=12), min_size=1, max_size=5)


def show(*rows: str, columns: int = 24) -> Screen:
    terminal = TerminalEmulator(columns, max(len(rows), 2))
    terminal.feed("\r\n".join(rows).encode())
    return take_screen(terminal)


def elements(picture: str, name: str) -> list[ET.Element]:
    return list(ET.fromstring(picture).iter(f"{NAMESPACE}{name}"))


@settings(max_examples=60, deadline=None)
@given(rows=ROWS)
def test_the_text_can_be_read_back(rows: list[str]) -> None:
    screen = show(*rows, columns=30)
    shown = "\n".join(screen.text()).rstrip().split("\n")
    assert "\n".join(read_text(render_screen(screen, DARK, title="x"))).rstrip().split("\n") == shown
    frames = [Frame(screen, 0.1), Frame(screen, 1.0, "end")]
    assert "\n".join(read_moments(render_animation(frames, LIGHT, title="x"))["end"]).rstrip() == "\n".join(shown)


def test_backgrounds_cover_their_cells() -> None:
    picture = render_screen(show("a\x1b[41m b \x1b[0mc"), DARK, title="x")
    [background] = [rectangle for rectangle in elements(picture, "rect") if rectangle.get("fill") == DARK.ansi[1]]
    assert float(background.get("x", "")) == CELL_WIDTH
    assert 3 * CELL_WIDTH <= float(background.get("width", "")) < 3.1 * CELL_WIDTH
    assert CELL_HEIGHT <= float(background.get("height", "")) < CELL_HEIGHT + 1


def test_wide_characters_take_two_cells() -> None:
    picture = render_screen(show("日本x"), DARK, title="x")
    places = {text.text: (text.get("x"), text.get("textLength")) for text in elements(picture, "text")}
    assert places == {"日": ("0", "16.8"), "本": ("16.8", "16.8"), "x": ("33.6", "8.4")}


def test_lines_are_shapes_that_meet() -> None:
    picture = render_screen(show("─┼─"), LIGHT, title="x")
    ends = [path.get("d", "") for path in elements(picture, "path")]
    assert ends[0] == "M0 9h8.4"
    assert "L8.4 9" in ends[1]
    assert "L16.8 9" in ends[1]
    assert ends[2] == "M16.8 9h8.4"


def test_reverse_video_swaps_the_colours() -> None:
    picture = render_screen(show("\x1b[7mx"), LIGHT, title="x")
    assert f'fill="{LIGHT.foreground}"' in picture
    assert f"fill:{LIGHT.background}" in picture


def test_an_animation_shows_one_frame_at_a_time() -> None:
    frames = [Frame(show("one"), 1.0), Frame(show("two"), 2.0), Frame(show("three"), 1.0, "end")]
    picture = render_animation(frames, DARK, title="x")
    assert "4.00s step-end infinite" in picture
    steps = [
        re.findall(r"([\d.]+)%\{visibility:(\w+)", rule) for rule in re.findall(r"@keyframes k\d\{(.*)\}#", picture)
    ]
    assert steps == [
        [("0.000", "visible"), ("25.000", "hidden")],
        [("0", "hidden"), ("25.000", "visible"), ("75.000", "hidden")],
        [("0", "hidden"), ("75.000", "visible")],
    ]


def test_times_are_replaced_in_their_row() -> None:
    screen = substitute(show("\x1b[42mRan in 0.123s, 12.5 s in all\x1b[K", columns=40), TIMES)
    assert screen.text()[0] == "Ran in 0.001s, 8 s in all"
    assert len(screen.rows[0]) == 40
    assert all(cell.style.bg == "2" for cell in screen.rows[0])
