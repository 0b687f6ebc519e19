"""Switches in environment variables."""

import pytest

from tejat.core.text.switches import is_truthy, parse_switch


@pytest.mark.parametrize(
    ("value", "found"),
    [
        *(("true", True), (" TRUE ", True), ("1", True), ("yes", True), ("on", True)),
        *(("false", False), ("0", False), ("No", False), ("off", False)),
        *((None, None), ("", None), ("maybe", None)),
    ],
)
def test_values(value: str | None, found: bool | None) -> None:
    assert parse_switch(value) is found
    assert is_truthy(value) is (found is True)
