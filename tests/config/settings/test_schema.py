"""The table of settings fits the values it fills, and no two settings share a name."""

from tejat.config.settings.schema import SETTINGS
from tejat.config.settings.types import Settings
from tejat.core.frozen import fields_of


def test_every_field_has_one_row() -> None:
    fields = [row.field for row in SETTINGS]
    assert sorted([*fields, "base_url_model", "mcp_name_conflicts", "files", "ignored_files", "problems"]) == sorted(
        each.name for each in fields_of(Settings)
    )


def test_no_name_is_given_twice() -> None:
    names = [name for row in SETTINGS for name in row.key.names]
    assert len(names) == len(set(names))
