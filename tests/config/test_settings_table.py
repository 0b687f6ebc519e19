"""The table of settings fits the values it fills, and no two settings share a name."""

from tejat.config.settings import Settings
from tejat.config.settings_table import ROWS, TIGHTENING
from tejat.core.value import fields_of


def test_every_field_has_one_row() -> None:
    fields = [row.field for row in (*ROWS, *TIGHTENING)]
    assert sorted([*fields, "mcp_not_taken_over", "files", "ignored"]) == sorted(
        each.name for each in fields_of(Settings)
    )


def test_no_name_is_given_twice() -> None:
    names = [name for row in (*ROWS, *TIGHTENING) for name in row.key.names]
    assert len(names) == len(set(names))
