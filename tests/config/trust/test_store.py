"""What was decided about folders is kept whole, closed to others, and never overwritten when it is not ours."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tejat.config.files.reader import MAX_BYTES
from tejat.config.paths import AppPaths
from tejat.config.trust.store import (
    FolderIdentity,
    TrustEntry,
    TrustRule,
    TrustVerdict,
    folder_identity,
    read_gemini_trust_rules,
    read_trust_store,
    remove_trust_entry,
    save_trust_entry,
)
from tejat.core.errors import UsageError
from tejat.core.frozen import replace

ENTRY = TrustEntry(TrustVerdict.TRUSTED, FolderIdentity(1, 2, 3), {".env": "abc"}, 5)


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    home = f"{tmp_path}/home"
    os.mkdir(home)
    return AppPaths(home, f"{home}/.config/tejat", f"{home}/.local/state/tejat", f"{home}/.gemini", ())


def write(paths: AppPaths, text: str) -> str:
    path = Path(paths.trust_store)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)
    return text


class TestOurs:
    def test_nothing_yet(self, paths: AppPaths) -> None:
        assert read_trust_store(paths) == {}
        assert os.listdir(paths.home) == []

    def test_kept_replaced_and_forgotten(self, paths: AppPaths) -> None:
        odd = os.fsdecode(b"/b\xff \xe2\x98\x83\n")
        other = replace(ENTRY, verdict=TrustVerdict.NOT_TRUSTED, items={odd: "x"})
        save_trust_entry(paths, "/a", ENTRY)
        save_trust_entry(paths, odd, other)
        assert read_trust_store(paths) == {"/a": ENTRY, odd: other}
        save_trust_entry(paths, "/a", other)
        remove_trust_entry(paths, odd)
        remove_trust_entry(paths, "/missing")
        assert read_trust_store(paths) == {"/a": other}

    def test_a_store_that_outgrows_its_limit_forgets_old_trust(self, paths: AppPaths, tmp_path: Path) -> None:
        items = {f"scripts/{number}.sh": "0" * 64 for number in range(1000)}
        here = [str(tmp_path / str(number)) for number in range(12)]
        for number, folder in enumerate(here):
            os.mkdir(folder)
            verdict = TrustVerdict.NOT_TRUSTED if number == 0 else TrustVerdict.TRUSTED
            save_trust_entry(paths, folder, replace(ENTRY, verdict=verdict, items=items, decided_at=number))
        assert list(read_trust_store(paths)) == sorted([here[0], *here[2:]])  # about 90 kB each
        save_trust_entry(paths, "/gone", replace(ENTRY, items=items, decided_at=100))
        save_trust_entry(paths, here[1], replace(ENTRY, decided_at=101))
        assert list(read_trust_store(paths)) == sorted(here)

    def test_one_that_became_too_long_elsewhere_still_counts(self, paths: AppPaths) -> None:
        save_trust_entry(paths, "/a", ENTRY)
        store = json.loads(Path(paths.trust_store).read_text())
        entry = {**store["folders"]["/a"], "items": {"x" * 2000: ""}}
        store["folders"] |= {f"/gone/{number}": entry for number in range(600)}
        Path(paths.trust_store).write_text(json.dumps(store))
        assert os.path.getsize(paths.trust_store) > MAX_BYTES
        assert len(read_trust_store(paths)) == 601
        save_trust_entry(paths, paths.home, replace(ENTRY, decided_at=2**40))
        assert os.path.getsize(paths.trust_store) <= MAX_BYTES
        assert paths.home in read_trust_store(paths)

    @pytest.mark.parametrize("mask", [0o000, 0o777])
    def test_closed_to_others_whatever_the_umask(self, paths: AppPaths, mask: int) -> None:
        before = os.umask(mask)
        try:
            save_trust_entry(paths, "/a", ENTRY)
        finally:
            os.umask(before)
        modes = {name: os.stat(f"{paths.config}/{name}").st_mode for name in os.listdir(paths.config)}
        assert {name: stat.S_IMODE(mode) for name, mode in modes.items()} == {"trust.json": 0o600, "trust.lock": 0o600}
        assert stat.S_IMODE(os.stat(paths.config).st_mode) == 0o700

    def test_what_a_later_version_added_stays(self, paths: AppPaths) -> None:
        save_trust_entry(paths, "/a", ENTRY)
        store = json.loads(Path(paths.trust_store).read_text())
        store["added"] = {"x": 1}
        store["folders"]["/a"]["added"] = 2
        write(paths, json.dumps(store))
        save_trust_entry(paths, "/b", ENTRY)
        after = json.loads(Path(paths.trust_store).read_text())
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
    def test_a_broken_file_is_not_touched(self, paths: AppPaths, text: str) -> None:
        write(paths, text)
        for act in (
            lambda: read_trust_store(paths),
            lambda: save_trust_entry(paths, "/a", ENTRY),
            lambda: remove_trust_entry(paths, "/a"),
        ):
            with pytest.raises(UsageError, match=f"^Cannot use {paths.trust_store}: "):
                act()
        assert Path(paths.trust_store).read_text() == text

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
    def test_an_entry_that_is_not_ours(self, paths: AppPaths, entry: object) -> None:
        write(paths, json.dumps({"version": 1, "folders": {"/a": entry}}))
        with pytest.raises(UsageError, match="an unknown entry in it"):
            read_trust_store(paths)

    def test_others_could_have_written_it(self, paths: AppPaths) -> None:
        save_trust_entry(paths, "/a", ENTRY)
        os.chmod(paths.trust_store, 0o666)
        text = Path(paths.trust_store).read_text()
        with pytest.raises(UsageError, match="writable by everyone"):
            read_trust_store(paths)
        with pytest.raises(UsageError, match="writable by everyone"):
            save_trust_entry(paths, "/b", ENTRY)
        assert Path(paths.trust_store).read_text() == text

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_it_belongs_to_another(self, paths: AppPaths) -> None:
        save_trust_entry(paths, "/a", ENTRY)
        os.chown(paths.trust_store, 12345, 12345)
        with pytest.raises(UsageError, match="owned by another user"):
            read_trust_store(paths)

    def test_no_place_for_it(self, paths: AppPaths) -> None:
        Path(paths.home, ".config").write_text("")
        with pytest.raises(UsageError):
            save_trust_entry(paths, "/a", ENTRY)

    def test_twenty_processes_at_once(self, paths: AppPaths) -> None:
        program = (
            "import sys\n"
            "from tejat.config.paths import AppPaths\n"
            "from tejat.config.trust.store import FolderIdentity, TrustEntry, TrustVerdict, save_trust_entry\n"
            "home, number = sys.argv[1:]\n"
            "paths = AppPaths(home, f'{home}/.config/tejat', '', '', ())\n"
            "for turn in range(3):\n"
            "    entry = TrustEntry(TrustVerdict.TRUSTED, FolderIdentity(1, 2, 3), {}, 4)\n"
            "    save_trust_entry(paths, f'/{number}-{turn}', entry)\n"
        )
        running = [
            subprocess.Popen([sys.executable, "-c", program, paths.home, str(number)], stdin=subprocess.DEVNULL)
            for number in range(20)
        ]
        assert [process.wait(60) for process in running] == [0] * 20
        assert set(read_trust_store(paths)) == {f"/{number}-{turn}" for number in range(20) for turn in range(3)}
        assert sorted(os.listdir(paths.config)) == ["trust.json", "trust.lock"]


class TestIdentity:
    def test_of_a_directory(self, tmp_path: Path) -> None:
        status = tmp_path.stat()
        assert folder_identity(str(tmp_path)) == FolderIdentity(status.st_dev, status.st_ino, status.st_uid)
        (tmp_path / "link").symlink_to(".")
        assert folder_identity(f"{tmp_path}/link") == folder_identity(str(tmp_path))

    @pytest.mark.parametrize("name", ["missing", "file"])
    def test_of_no_directory(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(UsageError, match=f"^Could not read {tmp_path}/{name}: "):
            folder_identity(f"{tmp_path}/{name}")


class TestRulesOfGemini:
    def test_none(self, paths: AppPaths) -> None:
        assert read_gemini_trust_rules(paths, {}) == []

    def test_read_as_they_are(self, paths: AppPaths, tmp_path: Path) -> None:
        (tmp_path / "real" / "x").mkdir(parents=True)
        (tmp_path / "link").symlink_to("real")
        rules = {
            f"{tmp_path}/link/x": "TRUST_FOLDER",
            f"{tmp_path}/link/y": "TRUST_PARENT",
            f"{tmp_path}/never/": "DO_NOT_TRUST",
            "relative": "TRUST_FOLDER",
        }
        path = Path(paths.gemini, "trustedFolders.json")
        path.parent.mkdir()
        path.write_text(json.dumps(rules))
        path.chmod(0o600)
        expected = [
            TrustRule(f"{tmp_path}/real/x", is_trusted=True),
            TrustRule(f"{tmp_path}/real", is_trusted=True),
            TrustRule(f"{tmp_path}/never", is_trusted=False),
        ]
        assert read_gemini_trust_rules(paths, {}) == expected
        elsewhere = path.rename(tmp_path / "other.json")
        assert read_gemini_trust_rules(paths, {}) == []
        assert read_gemini_trust_rules(paths, {"GEMINI_CLI_TRUSTED_FOLDERS_PATH": str(elsewhere)}) == expected
        assert json.loads(elsewhere.read_text()) == rules

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("{", "is missing at line 1"),
            ("[]", "it must be an object in {}"),
            ('{\n"/a": "TRUST"}', "line 2: '/a' must be TRUST_FOLDER, TRUST_PARENT or DO_NOT_TRUST"),
            ('{"/a": true}', "line 1: '/a' must be"),
        ],
    )
    def test_broken(self, paths: AppPaths, tmp_path: Path, text: str, problem: str) -> None:
        path = tmp_path / "folders.json"
        path.write_text(text)
        with pytest.raises(UsageError) as caught:
            read_gemini_trust_rules(paths, {"GEMINI_CLI_TRUSTED_FOLDERS_PATH": str(path)})
        assert str(caught.value).startswith(f"Error in {path}: ")
        assert problem in str(caught.value)

    def test_others_could_have_written_them(self, paths: AppPaths, tmp_path: Path) -> None:
        path = tmp_path / "folders.json"
        path.write_text("{}")
        path.chmod(0o666)
        with pytest.raises(UsageError, match="writable by everyone"):
            read_gemini_trust_rules(paths, {"GEMINI_CLI_TRUSTED_FOLDERS_PATH": str(path)})
