"""Tokens in private files, and one renewal at a time."""

import asyncio
import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tejat.mcp.errors import McpFailure, McpProblem
from tejat.mcp.oauth.token_store import OAuthGrant, TokenKey, TokenStore

HOLDER = TokenKey("a", "https://a.example:443")
GRANT = OAuthGrant(
    "access", "refresh", 12.5, "x y", {"client_id": "c", "redirect_uris": ["http://x/"]}, {"issuer": "i"}, {"r": None}
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


def test_what_is_written_is_read_by_its_holder_alone(tmp_path: Path) -> None:
    store = TokenStore(str(tmp_path / "deep" / "tokens"))
    assert store.read(HOLDER) is None
    store.write(HOLDER, GRANT)
    assert store.read(HOLDER) == GRANT
    assert TokenStore(str(tmp_path / "deep" / "tokens")).read(HOLDER) == GRANT
    for other in (TokenKey("a", "https://a.example:444"), TokenKey("b", HOLDER.origin), TokenKey("ahttps:", "")):
        assert store.read(other) is None
    store.write(HOLDER, OAuthGrant("new"))
    assert store.read(HOLDER) == OAuthGrant("new")
    assert store.remove(HOLDER)
    assert not store.remove(HOLDER)
    assert store.read(HOLDER) is None


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(alias=st.text(), access=TEXTS, refresh=st.none() | TEXTS, expires=st.none() | st.floats(0, 1e12))
def test_whatever_is_granted(
    tmp_path: Path, alias: str, access: str, refresh: str | None, expires: float | None
) -> None:
    store = TokenStore(str(tmp_path))
    store.write(TokenKey(alias, "o"), OAuthGrant(access, refresh, expires))
    assert store.read(TokenKey(alias, "o")) == OAuthGrant(access, refresh, expires)


def test_nobody_else_may_look(tmp_path: Path) -> None:
    directory = tmp_path / "tokens"
    directory.mkdir(mode=0o755)
    store = TokenStore(str(directory))
    before = os.umask(0)
    try:
        store.write(HOLDER, GRANT)
    finally:
        os.umask(before)
    [file] = directory.iterdir()
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "access" not in repr(GRANT)
    assert "refresh" not in repr(GRANT)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"accessToken": 3}', '{"accessToken": ""}', "\xff"])
def test_a_file_that_is_no_grant(tmp_path: Path, content: str) -> None:
    store = TokenStore(str(tmp_path))
    store.write(HOLDER, GRANT)
    [file] = tmp_path.iterdir()
    file.write_text(content, encoding="latin-1")
    assert store.read(HOLDER) is None
    store.write(HOLDER, GRANT)
    assert store.read(HOLDER) == GRANT


def test_links_are_not_followed(tmp_path: Path) -> None:
    store = TokenStore(str(tmp_path / "tokens"))
    store.write(HOLDER, GRANT)
    [file] = (tmp_path / "tokens").iterdir()
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(McpFailure, match="Could not store the login for a in") as caught:
        store.read(HOLDER)
    assert caught.value.problem is McpProblem.CONFIGURATION


def test_a_directory_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = TokenStore(str(tmp_path / "file"))
    for work in (lambda: store.read(HOLDER), lambda: store.write(HOLDER, GRANT), lambda: store.remove(HOLDER)):
        with pytest.raises(McpFailure):
            work()


def test_nothing_is_left_of_a_write_that_fails(tmp_path: Path) -> None:
    store = TokenStore(str(tmp_path))
    store.write(HOLDER, GRANT)
    [file] = tmp_path.iterdir()
    file.unlink()
    file.mkdir()
    (file / "inside").touch()
    with pytest.raises(McpFailure):
        store.write(HOLDER, GRANT)
    assert list(tmp_path.iterdir()) == [file]


def test_one_at_a_time(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    async def work(number: int) -> None:
        async with TokenStore(str(tmp_path)).lock(HOLDER, seconds=30):
            inside.append(number)
            most.append(len(inside))
            await asyncio.sleep(0.01)
            inside.remove(number)

    async def main() -> None:
        await asyncio.gather(*map(work, range(5)))

    asyncio.run(main())
    assert most == [1] * 5


def test_a_lock_that_another_process_holds(tmp_path: Path) -> None:
    async def main() -> None:
        store = TokenStore(str(tmp_path))
        async with store.lock(HOLDER, seconds=1):
            pass
        [lock] = await asyncio.to_thread(os.listdir, tmp_path)
        key = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "import fcntl, sys; file = open(sys.argv[1])\n"
            "fcntl.flock(file, fcntl.LOCK_EX); print(flush=True); sys.stdin.read()",
            str(tmp_path / lock),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert key.stdout is not None
        await key.stdout.readline()
        with pytest.raises(McpFailure, match="Another process is still refreshing the login for a") as caught:
            async with store.lock(HOLDER, seconds=0.1):
                pass
        assert caught.value.problem is McpProblem.TIMED_OUT
        async with store.lock(TokenKey("other", "o"), seconds=1):
            pass
        key.kill()
        await key.communicate()
        async with store.lock(HOLDER, seconds=30):
            pass

    asyncio.run(main())
