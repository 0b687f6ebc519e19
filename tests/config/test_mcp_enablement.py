"""Switching servers off and on again."""

import json
import os
from pathlib import Path

import pytest

from tejat.config.mcp_enablement import disabled_servers, is_disabled, switch_server
from tejat.config.places import Places, places_of
from tejat.core.errors import ConfigurationError


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return places_of({"HOME": str(tmp_path)})


def file_of(places: Places) -> Path:
    return Path(places.gemini) / "mcp-server-enablement.json"


def test_nothing_is_off_without_the_file(places: Places) -> None:
    assert disabled_servers(places) == frozenset()
    assert not file_of(places).exists()


def test_off_and_on_again(places: Places) -> None:
    assert switch_server(places, "GitHub", on=False)
    assert disabled_servers(places) == {"github"}
    assert is_disabled("GITHUB", disabled_servers(places))
    assert json.loads(file_of(places).read_text()) == {"github": {"enabled": False}}
    assert switch_server(places, "github", on=True)
    assert disabled_servers(places) == frozenset()


def test_what_is_so_already_changes_nothing(places: Places) -> None:
    assert not switch_server(places, "github", on=True)
    assert not file_of(places).exists()
    switch_server(places, "github", on=False)
    before = file_of(places).stat().st_mtime_ns
    assert not switch_server(places, "github", on=False)
    assert file_of(places).stat().st_mtime_ns == before


def test_what_others_wrote_there_stays(places: Places) -> None:
    os.makedirs(places.gemini)
    file_of(places).write_text(json.dumps({"other": {"enabled": False}, "third": {"enabled": True, "why": "x"}}))
    switch_server(places, "mine", on=False)
    assert json.loads(file_of(places).read_text()) == {
        "other": {"enabled": False},
        "third": {"enabled": True, "why": "x"},
        "mine": {"enabled": False},
    }
    assert disabled_servers(places) == {"other", "mine"}


@pytest.mark.parametrize("text", ["[]", "{", "null"])
def test_a_broken_file_is_named_and_not_written_over(places: Places, text: str) -> None:
    os.makedirs(places.gemini)
    file_of(places).write_text(text)
    with pytest.raises(ConfigurationError, match=str(file_of(places))):
        disabled_servers(places)
    with pytest.raises(ConfigurationError):
        switch_server(places, "mine", on=False)
    assert file_of(places).read_text() == text
