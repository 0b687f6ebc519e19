"""Where files are kept and found."""

import os
import pwd
import stat
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tejat.config.files.directory import make_private_directory
from tejat.config.paths import AppPaths, app_paths
from tejat.core.errors import UsageError
from tejat.core.frozen import replace

ADMIN = (
    ("/Library/Application Support/GeminiCli", "/Library/Application Support/Tejat")
    if sys.platform == "darwin"
    else ("/etc/gemini-cli", "/etc/tejat")
)
ACCOUNT_HOME = pwd.getpwuid(os.geteuid()).pw_dir


@pytest.fixture(params=[0o022, 0o000, 0o777])
def umask(request: pytest.FixtureRequest) -> Generator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


class TestPlacesOf:
    def test_beneath_the_home(self) -> None:
        assert app_paths({"HOME": "/h"}) == AppPaths(
            home="/h",
            config="/h/.config/tejat",
            state="/h/.local/state/tejat",
            gemini="/h/.gemini",
            admin=ADMIN,
            runtime="/h/.local/state/tejat/run",
        )

    def test_where_variables_say(self) -> None:
        environment = {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s/", "GEMINI_CLI_HOME": "/g"}
        assert app_paths(environment) == AppPaths(
            home="/h",
            config="/c/tejat",
            state="/s/tejat",
            gemini="/g/.gemini",
            admin=ADMIN,
            runtime="/s/tejat/run",
        )

    def test_a_run_with_a_state_of_its_own_shares_the_rest_with_the_user(self) -> None:
        paths = app_paths({"HOME": "/h", "XDG_STATE_HOME": "/own"})
        assert (paths.catalogue, paths.shared_state) == ("/own/tejat/catalogue.json", "/own/tejat")
        shared = replace(paths, user_state="/h/.local/state/tejat")
        assert (shared.sessions, shared.undo) == ("/own/tejat/sessions", "/own/tejat/undo")
        assert shared.catalogue == "/h/.local/state/tejat/catalogue.json"
        assert shared.mcp_logins == "/h/.local/state/tejat/mcp-logins"

    def test_the_runtime_directory_has_to_be_private_and_the_users(self, tmp_path: Path) -> None:
        base = tmp_path / "runtime"
        environment = {"HOME": ACCOUNT_HOME, "XDG_RUNTIME_DIR": str(base)}
        otherwise = f"{ACCOUNT_HOME}/.local/state/tejat/run"
        assert app_paths(environment).runtime == otherwise
        base.mkdir(mode=0o700)
        assert app_paths(environment).runtime == f"{base}/tejat"
        base.chmod(0o750)
        assert app_paths(environment).runtime == otherwise
        base.chmod(0o700)
        assert app_paths({**environment, "HOME": "/h"}).runtime == "/h/.local/state/tejat/run"

    @pytest.mark.parametrize("value", ["", "relative", "./x", "~/x"])
    def test_relative_values_do_not_count(self, value: str) -> None:
        environment = {"HOME": "/h", "XDG_CONFIG_HOME": value, "XDG_STATE_HOME": value}
        assert app_paths(environment) == app_paths({"HOME": "/h"})

    @pytest.mark.parametrize("environment", [{}, {"HOME": ""}, {"HOME": "relative"}])
    def test_without_a_home_the_account_has_one(self, environment: dict[str, str]) -> None:
        assert app_paths(environment) == app_paths({"HOME": ACCOUNT_HOME})

    def test_without_any_home_nothing_is_in_the_working_directory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def unknown(_: int) -> pwd.struct_passwd:
            raise KeyError

        monkeypatch.setattr(pwd, "getpwuid", unknown)
        paths = app_paths({})
        assert all(os.path.isabs(path) for path in (paths.home, paths.config, paths.state, paths.gemini))
        assert not os.path.exists(paths.gemini)
        with pytest.raises(UsageError, match=r"^No home directory found. Set HOME.$"):
            make_private_directory(paths.state)

    def test_a_directory_for_the_administrator_can_only_be_added(self) -> None:
        assert app_paths({"HOME": "/h", "TEJAT_ADMIN_DIRECTORY": "/a::/b"}).admin == (*ADMIN, "/a", "/b")

    def test_relative_words_of_the_person_mean_the_working_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        paths = app_paths({"HOME": "/h", "GEMINI_CLI_HOME": "g", "TEJAT_ADMIN_DIRECTORY": "a"})
        assert (paths.gemini, paths.admin) == (f"{tmp_path}/g/.gemini", (*ADMIN, f"{tmp_path}/a"))


class TestPrivateDirectory:
    def test_is_for_the_owner_alone_whatever_the_umask(self, tmp_path: Path, umask: int) -> None:
        path = tmp_path / "a" / "b" / "c"
        assert make_private_directory(str(path)) == str(path)
        assert [mode(made) for made in (path, path.parent, path.parent.parent)] == [0o700, 0o700, 0o700]

    def test_one_that_is_there_is_closed_and_what_leads_to_it_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "a" / "b"
        path.mkdir(parents=True)
        path.chmod(0o755)
        path.parent.chmod(0o755)
        make_private_directory(str(path))
        assert (mode(path), mode(path.parent)) == (0o700, 0o755)

    def test_may_be_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to("real")
        assert make_private_directory(f"{tmp_path}/link") == f"{tmp_path}/link"
        assert mode(tmp_path / "real") == 0o700

    def test_a_file_in_the_way(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(UsageError, match=f"^Cannot use {tmp_path}/file: not a directory.$"):
            make_private_directory(f"{tmp_path}/file")
        with pytest.raises(UsageError, match=f"^Could not create the directory {tmp_path}/file/a/b: Not a directory.$"):
            make_private_directory(f"{tmp_path}/file/a/b")

    def test_a_link_to_nowhere(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("nowhere")
        with pytest.raises(UsageError, match=f"^Could not create the directory {tmp_path}/link: No such file"):
            make_private_directory(f"{tmp_path}/link")

    @pytest.mark.skipif(os.geteuid() == 0, reason="for root every directory is open")
    def test_no_permission(self, tmp_path: Path) -> None:
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(
            UsageError, match=f"^Could not create the directory {tmp_path}/closed/a: Permission denied.$"
        ):
            make_private_directory(f"{tmp_path}/closed/a")

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
    def test_somebody_elses(self, tmp_path: Path) -> None:
        (tmp_path / "theirs").mkdir()
        os.chown(tmp_path / "theirs", 12345, 12345)
        with pytest.raises(UsageError, match=f"^Cannot use {tmp_path}/theirs: it belongs to another user.$"):
            make_private_directory(f"{tmp_path}/theirs")
