"""The pictures of README.md and docs/, in dark and light."""

from pathlib import Path

from support.pictures.animation import render_animation
from support.pictures.palette import DARK, LIGHT
from support.pictures.shop_session import Take, record
from support.pictures.svg import Screen, render_screen

IMAGES = Path(__file__).parents[3] / "docs" / "images"
PICTURES = {
    "start": "The first screen of Tejat: name, version, model, folder, mode and three tips",
    "menu": "The menu of slash commands",
    "question": "Tejat shows a change as a diff and asks before it edits the file",
    "task": "A whole task: Tejat reads, runs the tests, fixes the bug and runs the tests again",
    "policy": "/policy explain shows what would happen to a command, and why",
}
"""The moments that have a picture of their own, with a description of each."""
BEGINNINGS = {"question": "discount() returns"}
"""What the first row of a picture begins with, if it does not show the whole screen."""
ANIMATION = "demo"
ANIMATION_TITLE = "A whole task in Tejat: a prompt, approvals of two commands and an edit, and the answer"
SCHEMES = (DARK, LIGHT)


def make_pictures() -> dict[str, str]:
    """All pictures by file name."""
    pictures: dict[str, str] = {}
    for palette in SCHEMES:
        take = record(palette)
        for name, title in PICTURES.items():
            pictures[f"{name}-{palette.name}.svg"] = render_screen(crop(take, name), palette, title=title)
        animation = render_animation(take.frames, palette, title=ANIMATION_TITLE)
        pictures[f"{ANIMATION}-{palette.name}.svg"] = animation
    return pictures


def crop(take: Take, name: str) -> Screen:
    """A screen without the empty rows at its end, and without the rows above what it is about."""
    screen = take.screens[name]
    texts = screen.text()
    start = next((number for number, text in enumerate(texts) if text.startswith(BEGINNINGS.get(name, ""))), 0)
    end = max(number for number, text in enumerate(texts) if text) + 1
    cursor = None if screen.cursor is None else (screen.cursor[0], screen.cursor[1] - start)
    return Screen(screen.rows[start:end], cursor)
