"""What all commands about MCP servers say in the same way."""

import pytest

from tejat.cli.mcp.format import supports_unicode, unknown_server_message
from tejat.cli.messages import one_line


@pytest.mark.parametrize(
    ("environment", "speaks"),
    [
        ({}, False),
        ({"LANG": "C"}, False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),
        ({"LANG": "de_DE.UTF-8"}, True),
        ({"LANG": "de_DE.utf8", "LC_CTYPE": "C.UTF-8"}, True),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "POSIX"}, False),
        ({"LANG": "C", "LC_CTYPE": "UTF-8"}, True),
        ({"LANG": "de_DE.ISO-8859-1"}, False),
        ({"LC_ALL": "C.UTF-8"}, True),
    ],
)
def test_which_locales_have_more_than_ascii(environment: dict[str, str], speaks: bool) -> None:
    assert supports_unicode(environment) is speaks


def test_one_line_stays_one() -> None:
    assert one_line("a\nb\tc\x1b[2J\r") == "a<U+000A>b<U+0009>c<U+001B>[2J<U+000D>"


def test_the_nearest_names_come_first() -> None:
    known = ["zebra", "wiki", "Wikki", "notes"]
    assert unknown_server_message("wikki", known) == (
        'There is no MCP server "wikki" in the settings. Known servers: Wikki, wiki, notes.'
    )
    assert unknown_server_message("w" * 100_000, known).endswith("Known servers: Wikki, wiki, notes.")
