"""What was decided about folders is kept whole, closed to others, and never overwritten when it is not ours."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tejat.config.places import Places
from tejat.config.trust_store import (
    Entry,
    Identity,
    Rule,
    Verdict,
    identity_of,
    put_entry,
    read_store,
    remove_entry,
    rules_of_gemini,
    store_path,
)
from tejat.core.errors import UsageError

ENTRY = Entry(Verdict.TRUSTED, Identity(1, 2, 3), {".env": "abc"}, 5)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    home = f"{tmp_path}/home"
    os.mkdir(home)
    return Places(home, f"{home}/.config/tejat", f"{home}/.local/state/tejat", f"{home}/.gemini", ())


def write(places: Places, text: str) -> str:
    path = Path(store_path(places))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)
    return text


class TestOurs:
    def test_nothing_yet(self, places: Places) -> None:
        assert read_store(places) == {}
        assert os.listdir(places.home) == []

    def test_kept_replaced_and_forgotten(self, places: Places) -> None:
        odd = os.fsdecode(b"/b\xff \xe2\x98\x83\n")
        other = ENTRY._replace(verdict=Verdict.NOT_TRUSTED, items={odd: "x"})
        put_entry(places, "/a", ENTRY)
        put_entry(places, odd, other)
        assert read_store(places) == {"/a": ENTRY, odd: other}
        put_entry(places, "/a", other)
        remove_entry(places, odd)
        remove_entry(places, "/missing")
        assert read_store(places) == {"/a": other}

    @pytest.mark.parametrize("mask", [0o000, 0o777])
    def test_closed_to_others_whatever_the_umask(self, places: Places, mask: int) -> None:
        before = os.umask(mask)
        try:
            put_entry(places, "/a", ENTRY)
        finally:
            os.umask(before)
        modes = {name: os.stat(f"{places.config}/{name}").st_mode for name in os.listdir(places.config)}
        assert {name: stat.S_IMODE(mode) for name, mode in modes.items()} == {"trust.json": 0o600, "trust.lock": 0o600}
        assert stat.S_IMODE(os.stat(places.config).st_mode) == 0o700

    def test_what_a_later_version_added_stays(self, places: Places) -> None:
        put_entry(places, "/a", ENTRY)
        store = json.loads(Path(store_path(places)).read_text())
        store["added"] = {"x": 1}
        store["folders"]["/a"]["added"] = 2
        write(places, json.dumps(store))
        put_entry(places, "/b", ENTRY)
        after = json.loads(Path(store_path(places)).read_text())
        assert after == {**store, "folders": {**store["folders"], "/b": after["folders"]["/b"]}}

    BROKEN = (
        "",
        "{",
        "[]",
        "5",
        "[" * 100_000,
        "{}",
        '{"version": 2, "folders": {}}',
        '{"version": 1}',
        '{"version": 1, "folders": []}',
    )

    @pytest.mark.parametrize("text", BROKEN)
    def test_a_broken_file_is_not_touched(self, places: Places, text: str) -> None:
        write(places, text)
        for act in (
            lambda: read_store(places),
            lambda: put_entry(places, "/a", ENTRY),
            lambda: remove_entry(places, "/a"),
        ):
            with pytest.raises(UsageError, match=f"^Cannot rely on {store_path(places)}: "):
                act()
        assert Path(store_path(places)).read_text() == text

    @pytest.mark.parametrize(
        "entry",
        [
            5,
            {},
            {"verdict": "maybe", "device": 1, "inode": 2, "owner": 3, "when": 4, "items": {}},
            {"verdict": "trusted", "device": "1", "inode": 2, "owner": 3, "when": 4, "items": {}},
            {"verdict": "trusted", "device": 1, "inode": 2, "owner": 3, "when": 4, "items": []},
            {"verdict": "trusted", "device": 1, "inode": 2, "owner": 3, "when": 4, "items": {"a": 5}},
            {"verdict": "trusted", "device": 1, "inode": 2, "owner": 3, "when": 4},
        ],
    )
    def test_an_entry_that_is_not_ours(self, places: Places, entry: object) -> None:
        write(places, json.dumps({"version": 1, "folders": {"/a": entry}}))
        with pytest.raises(UsageError, match="it holds an entry that is not ours"):
            read_store(places)

    def test_others_could_have_written_it(self, places: Places) -> None:
        put_entry(places, "/a", ENTRY)
        os.chmod(store_path(places), 0o666)
        text = Path(store_path(places)).read_text()
        with pytest.raises(UsageError, match="everybody may write to it"):
            read_store(places)
        with pytest.raises(UsageError, match="everybody may write to it"):
            put_entry(places, "/b", ENTRY)
        assert Path(store_path(places)).read_text() == text

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_it_belongs_to_another(self, places: Places) -> None:
        put_entry(places, "/a", ENTRY)
        os.chown(store_path(places), 12345, 12345)
        with pytest.raises(UsageError, match="it belongs to another user"):
            read_store(places)

    def test_no_place_for_it(self, places: Places) -> None:
        Path(places.home, ".config").write_text("")
        with pytest.raises(UsageError):
            put_entry(places, "/a", ENTRY)

    def test_twenty_processes_at_once(self, places: Places) -> None:
        program = (
            "import sys\n"
            "from tejat.config.places import Places\n"
            "from tejat.config.trust_store import Entry, Identity, Verdict, put_entry\n"
            "home, number = sys.argv[1:]\n"
            "places = Places(home, f'{home}/.config/tejat', '', '', ())\n"
            "for turn in range(3):\n"
            "    put_entry(places, f'/{number}-{turn}', Entry(Verdict.TRUSTED, Identity(1, 2, 3), {}, 4))\n"
        )
        running = [
            subprocess.Popen([sys.executable, "-c", program, places.home, str(number)], stdin=subprocess.DEVNULL)
            for number in range(20)
        ]
        assert [process.wait(60) for process in running] == [0] * 20
        assert set(read_store(places)) == {f"/{number}-{turn}" for number in range(20) for turn in range(3)}
        assert sorted(os.listdir(places.config)) == ["trust.json", "trust.lock"]


class TestIdentity:
    def test_of_a_directory(self, tmp_path: Path) -> None:
        status = tmp_path.stat()
        assert identity_of(str(tmp_path)) == Identity(status.st_dev, status.st_ino, status.st_uid)
        (tmp_path / "link").symlink_to(".")
        assert identity_of(f"{tmp_path}/link") == identity_of(str(tmp_path))

    @pytest.mark.parametrize("name", ["missing", "file"])
    def test_of_no_directory(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(UsageError, match=f"^Cannot look at {tmp_path}/{name}: "):
            identity_of(f"{tmp_path}/{name}")


class TestRulesOfGemini:
    def test_none(self, places: Places) -> None:
        assert rules_of_gemini(places, {}) == []

    def test_read_as_they_are(self, places: Places, tmp_path: Path) -> None:
        (tmp_path / "real" / "x").mkdir(parents=True)
        (tmp_path / "link").symlink_to("real")
        rules = {
            f"{tmp_path}/link/x": "TRUST_FOLDER",
            f"{tmp_path}/link/y": "TRUST_PARENT",
            f"{tmp_path}/never/": "DO_NOT_TRUST",
            "relative": "TRUST_FOLDER",
        }
        path = Path(places.gemini, "trustedFolders.json")
        path.parent.mkdir()
        path.write_text(json.dumps(rules))
        path.chmod(0o600)
        expected = [
            Rule(f"{tmp_path}/real/x", is_trusted=True),
            Rule(f"{tmp_path}/real", is_trusted=True),
            Rule(f"{tmp_path}/never", is_trusted=False),
        ]
        assert rules_of_gemini(places, {}) == expected
        elsewhere = path.rename(tmp_path / "other.json")
        assert rules_of_gemini(places, {}) == []
        assert rules_of_gemini(places, {"GEMINI_CLI_TRUSTED_FOLDERS_PATH": str(elsewhere)}) == expected
        assert json.loads(elsewhere.read_text()) == rules

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("{", "is missing at line 1"),
            ("[]", "it must be one object in {}"),
            ('{\n"/a": "TRUST"}', "line 2: '/a' must be TRUST_FOLDER, TRUST_PARENT or DO_NOT_TRUST"),
            ('{"/a": true}', "line 1: '/a' must be"),
        ],
    )
    def test_broken(self, places: Places, tmp_path: Path, text: str, problem: str) -> None:
        path = tmp_path / "folders.json"
        path.write_text(text)
        with pytest.raises(UsageError) as caught:
            rules_of_gemini(places, {"GEMINI_CLI_TRUSTED_FOLDERS_PATH": str(path)})
        assert str(caught.value).startswith(f"Error in {path}: ")
        assert problem in str(caught.value)

    def test_others_could_have_written_them(self, places: Places, tmp_path: Path) -> None:
        path = tmp_path / "folders.json"
        path.write_text("{}")
        path.chmod(0o666)
        with pytest.raises(UsageError, match="everybody may write to it"):
            rules_of_gemini(places, {"GEMINI_CLI_TRUSTED_FOLDERS_PATH": str(path)})
