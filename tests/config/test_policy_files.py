"""Every policy file is read or the run stops."""

import os
from pathlib import Path

import pytest

from tejat.config.own_file import MAX_BYTES
from tejat.config.places import Places, SourceTier
from tejat.config.policy_files import PolicyText, policy_texts
from tejat.core.errors import UsageError

ADMIN, USER, WORKSPACE = SourceTier.ADMIN, SourceTier.USER, SourceTier.WORKSPACE


@pytest.fixture
def places(tmp_path: Path) -> Places:
    home = tmp_path / "home"
    admin = (str(tmp_path / "admin"), str(tmp_path / "added"))
    return Places(str(home), f"{home}/.config/tejat", f"{home}/.local/state/tejat", f"{home}/.gemini", admin)


def write(directory: Path | str, name: str, text: str = "") -> str:
    path = Path(directory) / "policies" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_there_are_none(places: Places, tmp_path: Path) -> None:
    assert policy_texts(places, [str(tmp_path / "project")]) == []


def test_nowhere_to_look(tmp_path: Path) -> None:
    nowhere = Places("/dev/null", "/dev/null/.config/tejat", "/dev/null/state", "/dev/null/.gemini", ())
    assert policy_texts(nowhere, [str(tmp_path)]) == []


def test_all_of_them_in_order(places: Places, tmp_path: Path) -> None:
    roots = [str(tmp_path / "one"), str(tmp_path / "two")]
    expected = [
        PolicyText(write(places.admin[0], "b.toml", "1"), "1", ADMIN),
        PolicyText(write(places.admin[1], "a.toml", "2"), "2", ADMIN),
        PolicyText(write(places.gemini, "a.toml", "3"), "3", USER),
        PolicyText(write(places.gemini, "b.toml", "4"), "4", USER),
        PolicyText(write(places.config, "saved.toml", "5"), "5", USER),
        PolicyText(write(f"{roots[0]}/.gemini", "a.toml", "6"), "6", WORKSPACE),
        PolicyText(write(f"{roots[1]}/.gemini", "a.toml", "7"), "7", WORKSPACE),
    ]
    for name in ("notes.txt", "a.toml~", ".#a.toml", "a.TOML.bak", "saved.lock"):
        write(places.gemini, name, "not a policy")
    assert policy_texts(places, roots) == expected


def test_the_home_directory_as_a_project_has_the_persons_own_rules(places: Places, tmp_path: Path) -> None:
    path = write(places.gemini, "a.toml")
    (tmp_path / "link").symlink_to(places.home)
    assert policy_texts(places, [places.home, f"{tmp_path}/link"]) == [PolicyText(path, "", USER)]


def test_a_root_named_twice_counts_once(places: Places, tmp_path: Path) -> None:
    path = write(tmp_path / "project" / ".gemini", "a.toml")
    root = str(tmp_path / "project")
    assert policy_texts(places, [root, f"{root}/"]) == [PolicyText(path, "", WORKSPACE)]


class TestRefused:
    """Each would leave out a rule that might be a no."""

    @pytest.fixture(params=["admin", "gemini", "config", "project"])
    def directory(self, request: pytest.FixtureRequest, places: Places, tmp_path: Path) -> Path:
        return {
            "admin": Path(places.admin[0]),
            "gemini": Path(places.gemini),
            "config": Path(places.config),
            "project": tmp_path / "project" / ".gemini",
        }[request.param]

    def message(self, places: Places, tmp_path: Path) -> str:
        with pytest.raises(UsageError) as caught:
            policy_texts(places, [str(tmp_path / "project")])
        return str(caught.value)

    def test_too_long(self, directory: Path, places: Places, tmp_path: Path) -> None:
        path = write(directory, "a.toml", "#" * (MAX_BYTES + 1))
        assert self.message(places, tmp_path) == f"Cannot read {path}: it is longer than 1 MiB."

    def test_not_text(self, directory: Path, places: Places, tmp_path: Path) -> None:
        path = write(directory, "a.toml")
        Path(path).write_bytes(b"\xff")
        assert self.message(places, tmp_path) == f"Cannot read {path}: it is not UTF-8 (line 1)."

    def test_a_link_to_nowhere(self, directory: Path, places: Places, tmp_path: Path) -> None:
        path = write(directory, "a.toml")
        os.unlink(path)
        os.symlink("nowhere", path)
        assert self.message(places, tmp_path) == f"Cannot read {path}: No such file or directory."

    def test_a_directory_called_like_a_file(self, directory: Path, places: Places, tmp_path: Path) -> None:
        path = directory / "policies" / "a.toml"
        path.mkdir(parents=True)
        assert self.message(places, tmp_path) == f"Cannot read {path}: it is not a regular file."

    def test_a_file_called_like_the_directory(self, directory: Path, places: Places, tmp_path: Path) -> None:
        directory.mkdir(parents=True)
        (directory / "policies").touch()
        assert self.message(places, tmp_path) == f"Cannot read {directory}/policies: Not a directory."

    def test_a_loop_of_links(self, directory: Path, places: Places, tmp_path: Path) -> None:
        directory.mkdir(parents=True)
        (directory / "policies").symlink_to("policies")
        assert self.message(places, tmp_path).startswith(f"Cannot read {directory}/policies: Too many levels")

    def test_too_many(self, directory: Path, places: Places, tmp_path: Path) -> None:
        for number in range(1001):
            write(directory, f"{number}.toml")
        assert self.message(places, tmp_path) == (
            f"Cannot read {directory}/policies: it holds more than 1000 policy files."
        )

    def test_too_much(self, directory: Path, places: Places, tmp_path: Path) -> None:
        for number in range(9):
            write(directory, f"{number}.toml", "#" * MAX_BYTES)
        assert self.message(places, tmp_path) == (
            f"Cannot read {directory}/policies: its policy files are longer than 8388608 characters."
        )

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_no_permission(self, directory: Path, places: Places, tmp_path: Path) -> None:
        path = write(directory, "a.toml")
        os.chmod(path, 0)
        assert self.message(places, tmp_path) == f"Cannot read {path}: Permission denied."


class TestOtherWriters:
    @pytest.mark.parametrize("what", ["a.toml", ""])
    @pytest.mark.parametrize("place", ["admin", "gemini", "config"])
    def test_everybody_could_write(self, places: Places, what: str, place: str) -> None:
        directory = Path({"admin": places.admin[0], "gemini": places.gemini, "config": places.config}[place])
        write(directory, "a.toml")
        opened = directory / "policies" / what
        opened.chmod(0o777)
        with pytest.raises(UsageError) as caught:
            policy_texts(places, [])
        assert str(caught.value) == f"Will not obey {opened}: everybody may write to it. `chmod o-w` closes it."

    def test_a_project_may_be_anybodys(self, places: Places, tmp_path: Path) -> None:
        path = write(tmp_path / "project" / ".gemini", "a.toml")
        os.chmod(path, 0o666)
        if os.geteuid() == 0:
            os.chown(path, 12345, 12345)
        assert policy_texts(places, [str(tmp_path / "project")]) == [PolicyText(path, "", WORKSPACE)]
