"""Keys that a person gave us to keep: for them alone, and none of them lost."""

import os
import stat
import threading
from pathlib import Path

import pytest

from tejat.config.credentials import read_api_keys
from tejat.config.credentials_writer import save_api_key
from tejat.config.paths import AppPaths
from tejat.core.errors import ConfigurationError, UsageError


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    home = str(tmp_path)
    return AppPaths(home, f"{home}/.config/tejat", f"{home}/state", f"{home}/.gemini", ())


def test_without_a_file_there_are_none_and_nothing_is_made(paths: AppPaths, tmp_path: Path) -> None:
    assert read_api_keys(paths) == {}
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_is_read_again(paths: AppPaths) -> None:
    assert save_api_key(paths, "GEMINI_API_KEY", "AIza-first") == paths.credentials
    save_api_key(paths, "OPENAI_API_KEY", 'sk-"$`\\n#')
    save_api_key(paths, "GEMINI_API_KEY", "AIza-second")
    assert read_api_keys(paths) == {"GEMINI_API_KEY": "AIza-second", "OPENAI_API_KEY": 'sk-"$`\\n#'}


def test_an_empty_key_is_forgotten(paths: AppPaths) -> None:
    save_api_key(paths, "GEMINI_API_KEY", "AIza-first")
    save_api_key(paths, "GEMINI_API_KEY", "")
    assert read_api_keys(paths) == {}
    assert Path(paths.credentials).read_text() == ""


def test_only_the_person_can_read_it_whatever_the_umask(paths: AppPaths) -> None:
    before = os.umask(0)
    try:
        path = save_api_key(paths, "GEMINI_API_KEY", "AIza-first")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


@pytest.mark.parametrize("key", ["a'b", "a\nb", "schlüssel", "\x1b[2J"])
def test_what_can_be_no_key_is_not_kept(paths: AppPaths, key: str) -> None:
    with pytest.raises(UsageError, match="Not a valid API key"):
        save_api_key(paths, "GEMINI_API_KEY", key)
    assert read_api_keys(paths) == {}


def test_only_keys_are_kept(paths: AppPaths) -> None:
    with pytest.raises(UsageError):
        save_api_key(paths, "PATH", "/elsewhere")


def test_other_variables_in_the_file_do_not_count(paths: AppPaths) -> None:
    save_api_key(paths, "GEMINI_API_KEY", "AIza-first")
    with open(paths.credentials, "a", encoding="utf-8") as file:
        file.write("PATH=/elsewhere\nOPENAI_BASE_URL=http://elsewhere\n")
    assert read_api_keys(paths) == {"GEMINI_API_KEY": "AIza-first"}


def test_a_file_that_others_could_have_written_is_refused(paths: AppPaths) -> None:
    path = save_api_key(paths, "GEMINI_API_KEY", "AIza-first")
    os.chmod(path, 0o666)
    with pytest.raises(ConfigurationError, match=r"keys\.env"):
        read_api_keys(paths)


def test_where_it_cannot_be_kept_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    paths = AppPaths(str(tmp_path), f"{tmp_path}/file/tejat", "/nowhere", "/nowhere", ())
    with pytest.raises(UsageError, match="Could not create the directory"):
        save_api_key(paths, "GEMINI_API_KEY", "AIza-first")


def test_two_at_once_lose_nothing(paths: AppPaths) -> None:
    names = ("GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")
    threads = [threading.Thread(target=save_api_key, args=(paths, name, f"key-of-{name}")) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_api_keys(paths) == {name: f"key-of-{name}" for name in names}
