"""Logging in at a server of the settings."""

import asyncio
from pathlib import Path

import pytest

from support.mcp.cli_env import write_servers
from support.mcp.oauth_server import follow_redirects, oauth_server
from support.raw_server import run_checked
from tejat.app.mcp.inspection import NoSuchServer
from tejat.app.mcp.login import ServerLogin
from tejat.app.run_config import load_run_config
from tejat.core.errors import UsageError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def project(home: Path) -> str:
    return str(home.parent / "project")


def test_a_login_is_kept_until_it_is_forgotten(home: Path, project: str) -> None:
    directory = home / ".local" / "state" / "tejat" / "mcp-logins"

    async def main() -> None:
        visits: list[asyncio.Task[str]] = []

        async def show(address: str) -> None:
            visits.append(asyncio.create_task(follow_redirects(address)))

        async with oauth_server() as server:
            write_servers(home, wiki={"httpUrl": server.mcp})
            login = ServerLogin("wiki", load_run_config([project]))
            assert not login.forget()
            await login.log_in(show, None)
            assert await visits[0] == "HTTP/1.1 200 OK"
        assert login.directory == str(directory)
        assert len(list(directory.glob("*.json"))) == 1
        assert ServerLogin("wiki", load_run_config([project])).forget()
        assert not login.forget()

    run_checked(main())


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"command": "x"}, "is a local program and needs no login"),
        ({}, "missing httpUrl"),
        ({"tcp": "x"}, "tcp transport is not supported"),
    ],
)
def test_where_nobody_can_log_in(home: Path, project: str, entry: dict[str, str], told: str) -> None:
    write_servers(home, one=entry)
    with pytest.raises(UsageError, match=told):
        ServerLogin("one", load_run_config([project]))


def test_a_name_that_nobody_knows(home: Path, project: str) -> None:
    write_servers(home, one=["x"])
    with pytest.raises(NoSuchServer) as raised:
        ServerLogin("two", load_run_config([project]))
    assert raised.value.known == ("one",)
