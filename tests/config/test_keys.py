"""Keys that a person gave us to keep: for them alone, and none of them lost."""

import os
import stat
import threading
from pathlib import Path

import pytest

from tejat.config.keep_key import keep_key
from tejat.config.keys import keys_path, read_keys
from tejat.config.places import Places
from tejat.core.errors import ConfigurationError, UsageError


@pytest.fixture
def places(tmp_path: Path) -> Places:
    home = str(tmp_path)
    return Places(home, f"{home}/.config/tejat", f"{home}/state", f"{home}/.gemini", ())


def test_without_a_file_there_are_none_and_nothing_is_made(places: Places, tmp_path: Path) -> None:
    assert read_keys(places) == {}
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_is_read_again(places: Places) -> None:
    assert keep_key(places, "GEMINI_API_KEY", "AIza-first") == keys_path(places)
    keep_key(places, "OPENAI_API_KEY", 'sk-"$`\\n#')
    keep_key(places, "GEMINI_API_KEY", "AIza-second")
    assert read_keys(places) == {"GEMINI_API_KEY": "AIza-second", "OPENAI_API_KEY": 'sk-"$`\\n#'}


def test_an_empty_key_is_forgotten(places: Places) -> None:
    keep_key(places, "GEMINI_API_KEY", "AIza-first")
    keep_key(places, "GEMINI_API_KEY", "")
    assert read_keys(places) == {}
    assert Path(keys_path(places)).read_text() == ""


def test_only_the_person_can_read_it_whatever_the_umask(places: Places) -> None:
    before = os.umask(0)
    try:
        path = keep_key(places, "GEMINI_API_KEY", "AIza-first")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


@pytest.mark.parametrize("key", ["a'b", "a\nb", "schlüssel", "\x1b[2J"])
def test_what_can_be_no_key_is_not_kept(places: Places, key: str) -> None:
    with pytest.raises(UsageError, match="not a key that could be kept"):
        keep_key(places, "GEMINI_API_KEY", key)
    assert read_keys(places) == {}


def test_only_keys_are_kept(places: Places) -> None:
    with pytest.raises(UsageError):
        keep_key(places, "PATH", "/elsewhere")


def test_other_variables_in_the_file_do_not_count(places: Places) -> None:
    keep_key(places, "GEMINI_API_KEY", "AIza-first")
    with open(keys_path(places), "a", encoding="utf-8") as file:
        file.write("PATH=/elsewhere\nOPENAI_BASE_URL=http://elsewhere\n")
    assert read_keys(places) == {"GEMINI_API_KEY": "AIza-first"}


def test_a_file_that_others_could_have_written_is_refused(places: Places) -> None:
    path = keep_key(places, "GEMINI_API_KEY", "AIza-first")
    os.chmod(path, 0o666)
    with pytest.raises(ConfigurationError, match=r"keys\.env"):
        read_keys(places)


def test_where_it_cannot_be_kept_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    places = Places(str(tmp_path), f"{tmp_path}/file/tejat", "/nowhere", "/nowhere", ())
    with pytest.raises(UsageError, match="Cannot make the directory"):
        keep_key(places, "GEMINI_API_KEY", "AIza-first")


def test_two_at_once_lose_nothing(places: Places) -> None:
    names = ("GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")
    threads = [threading.Thread(target=keep_key, args=(places, name, f"key-of-{name}")) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_keys(places) == {name: f"key-of-{name}" for name in names}
