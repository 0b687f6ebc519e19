import pytest

from tejat.config.mcp.added_servers import parse_added_servers
from tejat.config.paths import SourceTier
from tejat.core.errors import UsageError


def test_servers_count_as_the_users_own_and_a_dollar_means_itself() -> None:
    servers = parse_added_servers(
        {
            "files": {"command": "/bin/files", "args": ["$HOME"], "env": {"KEY": "a$b"}},
            "remote": {"httpUrl": "http://localhost/$x", "headers": {"Authorization": "Bearer $TOKEN"}},
        }
    )
    files, remote = servers["files"].value, servers["remote"].value
    assert (files.command, files.arguments, files.environment) == ("/bin/files", ("$HOME",), {"KEY": "a$b"})
    assert (remote.http_url, remote.headers) == ("http://localhost/$x", {"Authorization": "Bearer $TOKEN"})
    assert {each.tier for each in servers.values()} == {SourceTier.USER}
    assert not files.is_trusted


def test_a_wrong_field_is_an_error_that_names_it() -> None:
    with pytest.raises(UsageError, match=r"^mcp_servers\.files\.args must be a list of strings, not 'not a list'\.$"):
        parse_added_servers({"files": {"command": "x", "args": "not a list"}})


def test_no_servers() -> None:
    assert parse_added_servers({}) == {}
