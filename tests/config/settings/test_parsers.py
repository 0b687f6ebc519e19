"""Settings that are more than a text or a number: right ones, wrong ones."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tejat.config.paths import SourceTier
from tejat.config.settings import parsers
from tejat.config.settings.file import SettingKey, SettingsError, SettingValue
from tejat.config.settings.loader import read_settings_file
from tejat.config.settings.types import SessionRetention, TokenPrice
from tejat.core.ui.theme_colours import ThemeColours

Reader = Callable[[SettingValue], object]


def found(directory: Path, value: object) -> SettingValue:
    path = directory / "s.json"
    path.write_text(json.dumps({"key": value}))
    file = read_settings_file(str(path), SourceTier.USER, {"MINE": "/my files"})
    node = file.find(SettingKey("key")) if file else None
    assert node is not None
    return node


@pytest.mark.parametrize(("name", "is_fuzzy"), [("enableFuzzySearch", True), ("disableFuzzySearch", False)])
def test_an_old_name_with_the_opposite_meaning(tmp_path: Path, name: str, is_fuzzy: bool) -> None:
    path = tmp_path / "s.json"
    for value in (True, False):
        path.write_text(json.dumps({"fileFiltering": {name: value}}))
        file = read_settings_file(str(path), SourceTier.USER, {})
        node = file.find(SettingKey(f"fileFiltering.{name}")) if file else None
        assert node is not None
        assert parsers.parse_fuzzy_search(node) is (is_fuzzy if value else not is_fuzzy)


@pytest.mark.parametrize(
    ("reader", "written", "value"),
    [
        (parsers.parse_negated_boolean, True, False),
        (parsers.parse_negated_boolean, False, True),
        (parsers.parse_output_limit, 1000, 1000),
        (parsers.parse_custom_theme, {"Background": "#FFF"}, ThemeColours("key", is_dark=False, background="#ffffff")),
        (parsers.parse_import_format, "tree", "tree"),
        (parsers.parse_telemetry, "false", {"enabled": False}),
        (
            parsers.parse_telemetry,
            {"enabled": "true", "target": "gcp", "otlpProtocol": "http", "outfile": "o", "unheardOf": 1},
            {"enabled": True, "target": "gcp", "otlpProtocol": "http", "outfile": "o"},
        ),
        (parsers.parse_price, {"input": 2, "output": 8}, TokenPrice(2.0, 2.0, 8.0, 2.0)),
        (parsers.parse_price, {"input": 2, "cached": 0, "output": 8.5, "more": "x"}, TokenPrice(2.0, 0.0, 8.5, 2.0)),
        (parsers.parse_price, {"input": 2, "cacheWrite": 2.5, "output": 8}, TokenPrice(2.0, 2.0, 8.0, 2.5)),
        (parsers.parse_session_retention, {"maxAge": "36h"}, SessionRetention(1.5)),
        (parsers.parse_variable_names, ["A", "_b1"], ("A", "_b1")),
        (parsers.parse_file_names, "a/b.md", ("a/b.md",)),
        (parsers.parse_command, "python3 'my tools.py' list", ("python3", "my tools.py", "list")),
        (parsers.parse_command, ["python3", "my tools.py", "", " "], ("python3", "my tools.py", "", " ")),
        (parsers.parse_command, '"$MINE/run" $MINE $OTHER', ("/my files/run", "/my", "files", "$OTHER")),
        (parsers.parse_command, ["$MINE/run", "$OTHER"], ("/my files/run", "$OTHER")),
    ],
)
def test_right(tmp_path: Path, reader: Reader, written: object, value: object) -> None:
    assert reader(found(tmp_path, written)) == value


@pytest.mark.parametrize(
    ("reader", "written", "problem"),
    [
        (parsers.parse_import_format, "trees", "key must be tree or flat, not 'trees'"),
        (parsers.parse_import_format, 1, "key must be tree or flat, not the number 1"),
        (
            parsers.parse_price,
            {"input": 2},
            "key must be an object with input and output, in dollars per million tokens",
        ),
        (
            parsers.parse_price,
            {"input": -1, "output": 1},
            "key.input must be a number of at least 0, not the number -1",
        ),
        (parsers.parse_price, 5, "key must be an object, not the number 5"),
        (parsers.parse_session_retention, "30d", "key must be a number of at least 0, not '30d'"),
        (parsers.parse_session_retention, {"maxAge": "30"}, "key.maxAge must be a number followed by h, d, w or m"),
        (parsers.parse_session_retention, {"maxAge": "0d"}, "key.maxAge must be a number followed by h, d, w or m"),
        (parsers.parse_session_retention, {"maxCount": 0}, "key.maxCount must be an integer of at least 1"),
        (parsers.parse_session_retention, {"enabled": "no"}, "key.enabled must be true or false"),
        (parsers.parse_command, 5, "key must be a command line or a list of arguments, not the number 5"),
        (parsers.parse_command, {}, "key must be a command line or a list of arguments, not an object"),
        (parsers.parse_command, ["a", 5], "key must be a command line or a list of arguments, not the number 5"),
        (parsers.parse_command, "", "key is empty or contains only whitespace\n"),
        (parsers.parse_command, " ", "key is empty or contains only whitespace\n"),
        (parsers.parse_command, [], "key is empty or contains only whitespace\n"),
        (parsers.parse_command, ["", "a"], "key must start with a program name\n"),
        (
            parsers.parse_command,
            "a | b",
            "key contains |, which needs a shell, but it runs without one. Quote it",
        ),
    ],
)
def test_wrong(tmp_path: Path, reader: Reader, written: object, problem: str) -> None:
    with pytest.raises(SettingsError) as caught:
        reader(found(tmp_path, written))
    assert f": line 1: {problem}" in str(caught.value)


@pytest.mark.parametrize(
    ("written", "value"),
    [(True, {"enabled": True}), ("False", {"enabled": False}), ({"target": "gcp"}, {"target": "gcp"})],
)
def test_telemetry_may_be_a_switch(tmp_path: Path, written: object, value: object) -> None:
    assert parsers.parse_telemetry(found(tmp_path, written)) == value


@pytest.mark.parametrize(("written", "value"), [(3, 3), ("3", 3), (10, 10), (11, 10), ("99", 10)])
def test_at_most_ten_attempts(tmp_path: Path, written: object, value: int) -> None:
    assert parsers.parse_attempts(found(tmp_path, written)) == value
