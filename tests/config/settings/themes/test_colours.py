"""Colours as people write them."""

import pytest

from tejat.config.settings.themes.colours import is_dark_colour, parse_colour


@pytest.mark.parametrize(
    ("text", "colour"),
    [
        ("#1E90FF", "#1e90ff"),
        ("#19f", "#1199ff"),
        ("19F", "#1199ff"),
        ("DodgerBlue", "#1e90ff"),
        ("lightslategrey", "#778899"),
        ("rebeccapurple", "#663399"),
        (" red ", "red"),
        ("blueBright", "bright_blue"),
        ("grey", "bright_black"),
    ],
)
def test_colours(text: str, colour: str) -> None:
    assert parse_colour(text) == colour


@pytest.mark.parametrize("text", ["", "#12", "#12345", "#1234567", "#ggg", "rgb(1,2,3)", "blurple", "\x1b[31m"])
def test_other_texts_are_none(text: str) -> None:
    assert parse_colour(text) is None


@pytest.mark.parametrize(
    ("colour", "is_dark"),
    [("#000000", True), ("#fdf6e3", False), ("#7f7f7f", True), ("#808080", False), ("white", False), ("black", True)],
)
def test_dark_and_light(colour: str, is_dark: bool) -> None:
    assert is_dark_colour(colour) is is_dark
    assert is_dark_colour("") is None
