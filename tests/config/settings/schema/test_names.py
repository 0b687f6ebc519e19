"""Names that are not in the schema, so that the table of known keys must be read."""

import json
from pathlib import Path

import pytest

from tejat.config.paths import SourceTier
from tejat.config.settings.file import SettingsFile
from tejat.config.settings.loader import read_settings_file
from tejat.config.settings.schema.names import has_other_names


def write(directory: Path, content: object) -> SettingsFile:
    path = directory / "settings.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    path.chmod(0o600)
    file = read_settings_file(str(path), SourceTier.USER, {})
    assert file is not None
    return file


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"model": {"name": "gemini-2.5-pro"}, "tools": {"allowed": ["glob"]}, "vimMode": True},
        {"mcpServers": {"one": {"command": "x", "nonsense": {"a": 1}}}},
        {"model": "gemini-2.5-pro"},
        {"nonsense": None},
    ],
)
def test_names_of_the_schema(tmp_path: Path, given: object) -> None:
    assert not has_other_names([write(tmp_path, given)])


@pytest.mark.parametrize("given", [{"ui": {"hideContextSummary": True}}, {"nonsense": {}}, {"model": {"nmae": "x"}}])
def test_other_names(tmp_path: Path, given: object) -> None:
    assert has_other_names([write(tmp_path, given)])
